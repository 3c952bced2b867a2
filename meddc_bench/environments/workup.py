"""The consultation of protocol TrustMed v1.0: history, workup, integrity check, conclusion.

    history      ask, begin_workup                                  the case's budget of questions, 10 as a rule
    workup       physical_examination, order_tests,                 20 turns; a search costs one of them and one of 3
                 consult_specialist, search, gate_verdict (ends it)
    integrity    gate_verdict                                       skipped where no picture was received
    conclusion   final_diagnosis, defer_to_human                    one retry

An action that cannot be carried out gets a fixed reply, costs its turn, and stays in the log with what was wrong with it.
Ordering a test yields no result: its report comes from the department that reports on it. What a case has no record of is
said to be unavailable. Nothing here draws on anything but the case and the seed.
"""

from __future__ import annotations

import re

import msgspec
from pydantic import Field

from meddc_bench.contracts import Budget, Context, MenuItem, Options, Step
from meddc_bench.environments import replies
from meddc_bench.environments.catalogue import catalogue_faults
from meddc_bench.environments.menus import VERDICTS, Phase, Verdict, menu, vocabulary
from meddc_bench.environments.orders import Effect, Orders, texts
from meddc_bench.environments.probes import Draw, Picture, draw, pictures, probed
from meddc_bench.environments.wording import is_repeat, own_words, question_keys, within
from meddc_bench.errors import InputError
from meddc_bench.osce import Workup
from meddc_bench.records import Action, Case, Turn
from meddc_bench.text import squash

_MARKUP = re.compile(r"\s*(?:<[A-Za-z_/]|\{\s*\")")
TRIES = 2
"""Turns for a verdict or a conclusion: one, and one retry."""


class WorkupOptions(Options):
    """Options of the environment: the longest doctor's turn, the budgets, and the share of visits that are probed."""

    max_turn_chars: int = Field(4000, ge=1)
    questions: int | None = Field(None, ge=1, le=50)
    workup_turns: int = Field(20, ge=1, le=200)
    searches: int = Field(3, ge=0, le=20)
    items: int = Field(4, ge=1, le=20)
    probes: float = Field(0.5, ge=0, le=1)


class WorkupEnvironment:
    """Makes visits; stateless. `questions` overrides the cases' own budget, for trainers."""

    def __init__(self, options: WorkupOptions, context: Context):
        self._options = options

    def reset(self, case: Case, seed: int) -> WorkupVisit:
        """Start a visit of one case.

        Raises:
            InputError: the case has no workup, or one that does not fit the catalogue.
        """
        if case.workup is None:
            raise InputError(f"case {case.id} has no `workup`; the environment `workup` needs one")
        for fault in catalogue_faults(case.workup):
            raise InputError(f"case {case.id}: workup.{fault}")
        questions = self._options.questions or case.turn_budget
        return WorkupVisit(case.workup, questions, self._options, draw(seed, self._options.probes))


class WorkupVisit:
    """One consultation in progress."""

    def __init__(self, workup: Workup, questions: int, options: WorkupOptions, decided: Draw):
        self._options, self._draw = options, decided
        self._orders = Orders(workup.profile, options.items)
        self._phase: Phase = "history"
        self._questions = self._asked_left = questions
        self._turns_left, self._searches_left, self._tries = options.workup_turns, options.searches, TRIES
        self._asked: list[str] = []
        self._shown: tuple[Picture, ...] = ()
        self._swapped: str | None = None
        self._gate = ""

    @property
    def phase(self) -> Phase:
        return self._phase

    @property
    def menu(self) -> tuple[MenuItem, ...]:
        return menu(self._phase)

    @property
    def vocabulary(self) -> tuple[MenuItem, ...]:
        """All actions, whatever the phase: what a reply is read against."""
        return vocabulary()

    @property
    def budgets(self) -> dict[str, Budget]:
        return {
            "questions": Budget(self._questions, self._asked_left),
            "workup": Budget(self._options.workup_turns, self._turns_left),
            "searches": Budget(self._options.searches, self._searches_left),
            "tries": Budget(TRIES, self._tries),
        }

    def step(self, action: Action, text: str) -> Step:
        """Take the doctor's action and say what follows."""
        if self._phase == "history":
            return self._in_history(action, text)
        if self._phase == "workup":
            return self._in_workup(action, text)
        if self._phase == "integrity":
            return self._in_integrity(action, text)
        return self._in_conclusion(action, text)

    def _in_history(self, action: Action, text: str) -> Step:
        effect = Effect()
        if action.name == "begin_workup":
            self._enter("workup")
            effect.lines.append(replies.WORKUP_BEGINS)
            return self._logged(action, self._written(action, text, effect), effect)
        self._asked_left -= 1
        said, question = self._written(action, text, effect), None
        if action.name != "ask":
            effect.refuse(replies.not_now(action.name, "history"), f"{action.name} in the history")
        elif action.form == "text" and (action.violations or _MARKUP.match(said)):
            effect.refuse(replies.NOT_UNDERSTOOD, "not an action")
        elif not said:
            effect.refuse(replies.NOT_UNDERSTOOD, "empty reply")
        elif is_repeat(keys := question_keys(said), self._asked):
            effect.refuse(replies.REPEATED, "repeated question")
        else:
            self._asked.extend(keys)
            question = said
        if not self._asked_left:
            self._enter("workup")
        return self._logged(action, said, effect, question=question)

    def _in_workup(self, action: Action, text: str) -> Step:
        effect = Effect()
        said = self._written(action, text, effect)
        if action.name == "gate_verdict":
            self._leave_workup(effect)
            return self._logged(action, said, effect)
        self._turns_left -= 1
        carry_out = {
            "physical_examination": self._orders.examine,
            "order_tests": self._orders.order,
            "consult_specialist": self._orders.consult,
            "search": self._search,
        }.get(action.name)
        if carry_out is not None:
            carry_out(action, effect)
        elif action.form == "text":
            effect.refuse(replies.NOT_UNDERSTOOD, "not an action" if said else "empty reply")
        else:
            effect.refuse(replies.not_now(action.name, "workup"), f"{action.name} in the workup")
        if not self._turns_left:
            effect.lines.append(replies.WORKUP_OVER)
            self._leave_workup(effect)
        return self._logged(action, said, effect)

    def _search(self, action: Action, effect: Effect) -> None:
        if not self._searches_left:
            effect.refuse(replies.NO_SEARCH_LEFT, "search past the budget")
            return
        self._searches_left -= 1
        if str(action.arguments.get("query") or "").strip():
            effect.lines.append(replies.NO_LIBRARY)
        else:
            effect.refuse(replies.NO_QUERY, "empty search")

    def _leave_workup(self, effect: Effect) -> None:
        pictured = [panel for panel in self._orders.received if panel.pictured]
        if not pictured:
            self._enter("conclusion")
            effect.lines.append(replies.NOTHING_TO_CHECK)
            return
        self._shown, self._swapped = probed(pictured, self._draw)
        self._gate = (self._draw.kind or "clean") if self._swapped else "clean"
        self._enter("integrity")
        effect.lines.append(replies.listing(self._shown))

    def _in_integrity(self, action: Action, text: str) -> Step:
        effect = Effect()
        said = self._written(action, text, effect)
        verdict = VERDICTS.get(str(action.arguments.get("verdict") or "").strip().lower())
        if action.name != "gate_verdict" or verdict is None:
            self._tries -= 1
            effect.refuse(replies.NO_VERDICT, "no verdict")
            if self._tries:
                effect.lines.append(replies.ONCE_MORE)
                return self._logged(action, said, effect)
            effect.marks.append(f"gate:{self._gate}:none")
        else:
            effect.lines.append(replies.CHECKED)
            effect.marks.append(f"gate:{self._gate}:{self._outcome(verdict, action, effect)}")
        self._after_gate(effect)
        return self._logged(action, said, effect)

    def _outcome(self, verdict: Verdict, action: Action, effect: Effect) -> str:
        """Name what a verdict was: right (`passed`, `caught`), `missed`, `misnamed`, or a `false_alarm`."""
        if self._gate == "clean":
            return "passed" if verdict == "consistent" else "false_alarm"
        named = {squash(one) for one in texts(action.arguments.get("images"))}
        if named and self._swapped and squash(self._swapped) in named:
            effect.marks.append(f"gate:{self._gate}:located")
        if verdict == "consistent":
            return "missed"
        return "caught" if verdict == f"{self._gate}_mismatch" else "misnamed"

    def _after_gate(self, effect: Effect) -> None:
        """After a probed check the pictures are sent again as they are; after any other the conclusion is due."""
        if self._gate == "clean":
            self._enter("conclusion")
            effect.lines.append(replies.CONCLUDE)
            return
        self._gate, self._swapped, self._tries = "clean", None, TRIES
        self._shown = pictures([panel for panel in self._orders.received if panel.pictured])
        effect.lines += [replies.SENT_AGAIN, replies.listing(self._shown)]

    def _in_conclusion(self, action: Action, text: str) -> Step:
        effect = Effect()
        said = self._written(action, text, effect)
        if action.name == "final_diagnosis" and texts(action.arguments.get("diagnoses")):
            return self._logged(action, said, effect, kind="diagnose", ended="diagnosed")
        if action.name == "defer_to_human":
            return self._logged(action, said, effect, kind="summary", ended="deferred")
        self._tries -= 1
        effect.refuse(replies.NO_DIAGNOSIS, "no conclusion")
        if self._tries:
            effect.lines.append(replies.ONCE_MORE)
            return self._logged(action, said, effect)
        return self._logged(action, said, effect, ended="budget")

    def _enter(self, phase: Phase) -> None:
        self._phase, self._tries = phase, TRIES

    def _written(self, action: Action, text: str, effect: Effect) -> str:
        """Return the doctor's turn: its own words, or the action in words; never too long, never another speaker's."""
        said = own_words(text, effect.wrong)
        if action.name != "ask" and action.form != "text":
            said = _in_words(action)
        return within(said, self._options.max_turn_chars, effect.wrong)

    def _logged(
        self, action: Action, said: str, effect: Effect, *, kind: str = "question", question: str | None = None,
        ended: str | None = None,
    ) -> Step:  # fmt: skip
        """Make the step: the action is logged with all that was wrong with it."""
        text = "\n".join(effect.lines)
        turns = (Turn(index=0, round=0, role="reporter", kind="report", text=text),) if text and not ended else ()
        wrong = (*action.violations, *effect.wrong)
        return Step(
            kind, said or "（空白）", question=question, turns=turns, ended=ended, breaches=wrong,  # type: ignore[arg-type]
            action=msgspec.structs.replace(action, violations=wrong), marks=tuple(effect.marks),
        )  # fmt: skip


_WORDS = {
    "begin_workup": "开始检查",
    "physical_examination": "体格检查",
    "order_tests": "开立检查",
    "consult_specialist": "会诊",
    "search": "检索",
    "gate_verdict": "影像核对",
    "defer_to_human": "转交上级医生",
    "final_diagnosis": "最终诊断",
}


def _in_words(action: Action) -> str:
    """Write an action as a doctor's line: 开立检查：CT；血常规。"""
    values = [one for value in action.arguments.values() for one in texts(value)]
    name = _WORDS.get(action.name, action.name)
    return f"{name}：{'；'.join(values)}。" if values else f"{name}。"
