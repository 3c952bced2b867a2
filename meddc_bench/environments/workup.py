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
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
from pydantic import Field

from meddc_bench.contracts import Budget, Context, MenuItem, Options, Step
from meddc_bench.environments import replies
from meddc_bench.environments.catalogue import Entry, catalogue, catalogue_faults
from meddc_bench.environments.menus import VERDICTS, Phase, Verdict, menu, vocabulary
from meddc_bench.environments.probes import Draw, Picture, draw, pictures, probed
from meddc_bench.environments.wording import before_other_speaker, is_repeat, question_keys
from meddc_bench.errors import InputError
from meddc_bench.osce import Panel, Workup
from meddc_bench.records import Action, Case, Turn
from meddc_bench.text import squash

_BETWEEN = re.compile(r"[、，,;；\n]")
_MARKUP = re.compile(r"\s*(?:<[A-Za-z_/]|\{\s*\")")
_NAMED = 40
"""Longest name of an item that is said back."""
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


@dataclass
class _Reply:
    """What an action led to, while it is put together."""

    lines: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    def refuse(self, line: str, wrong: str) -> None:
        """Say why something was not done, and note it."""
        self.lines.append(line)
        if wrong not in self.wrong:
            self.wrong.append(wrong)


class WorkupVisit:
    """One consultation in progress."""

    def __init__(self, workup: Workup, questions: int, options: WorkupOptions, decided: Draw):
        self._options, self._draw, self._known = options, decided, catalogue()
        self._panels: dict[str, tuple[Panel, ...]] = {}
        for panel in workup.profile:
            self._panels[panel.key] = (*self._panels.get(panel.key, ()), panel)
        self._phase: Phase = "history"
        self._questions = self._asked_left = questions
        self._turns_left, self._searches_left, self._tries = options.workup_turns, options.searches, TRIES
        self._asked: list[str] = []
        self._examined: set[str] = set()
        self._unavailable: set[str] = set()
        self._ordered: dict[str, bool] = {}
        """Tests ordered that have a record, by id: whether they were reported."""
        self._received: list[Panel] = []
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

    # ── history ──────────────────────────────────────────────────────────────────────────────────

    def _in_history(self, action: Action, text: str) -> Step:
        reply = _Reply()
        if action.name == "begin_workup":
            self._enter("workup")
            reply.lines.append(replies.WORKUP_BEGINS)
            return self._logged(action, self._written(action, text, reply), reply)
        self._asked_left -= 1
        said, question = self._written(action, text, reply), None
        if action.name != "ask":
            reply.refuse(replies.not_now(action.name, "history"), f"{action.name} in the history")
        elif action.form == "text" and (action.violations or _MARKUP.match(said)):
            reply.refuse(replies.NOT_UNDERSTOOD, "not an action")
        elif not said:
            reply.refuse(replies.NOT_UNDERSTOOD, "empty reply")
        elif is_repeat(keys := question_keys(said), self._asked):
            reply.refuse(replies.REPEATED, "repeated question")
        else:
            self._asked.extend(keys)
            question = said
        if not self._asked_left:
            self._enter("workup")
        return self._logged(action, said, reply, question=question)

    # ── workup ───────────────────────────────────────────────────────────────────────────────────

    def _in_workup(self, action: Action, text: str) -> Step:
        reply = _Reply()
        said = self._written(action, text, reply)
        if action.name == "gate_verdict":
            self._leave_workup(reply)
            return self._logged(action, said, reply)
        self._turns_left -= 1
        carry_out = {
            "physical_examination": self._examine,
            "order_tests": self._order,
            "consult_specialist": self._consult,
            "search": self._search,
        }.get(action.name)
        if carry_out is not None:
            carry_out(action, reply)
        elif action.form == "text":
            reply.refuse(replies.NOT_UNDERSTOOD, "not an action" if said else "empty reply")
        else:
            reply.refuse(replies.not_now(action.name, "workup"), f"{action.name} in the workup")
        if not self._turns_left:
            reply.lines.append(replies.WORKUP_OVER)
            self._leave_workup(reply)
        return self._logged(action, said, reply)

    def _examine(self, action: Action, reply: _Reply) -> None:
        for entry in self._entries(action.arguments.get("examinations"), "examination", "查体项目", reply):
            if entry.id in self._examined:
                reply.refuse(replies.examined_before(entry), "repeated examination")
                continue
            self._examined.add(entry.id)
            panels = self._panels.get(entry.id, ())
            reply.lines.append(replies.examined(entry, panels))
            reply.marks.extend(f"examined:{panel.id}" for panel in panels)

    def _order(self, action: Action, reply: _Reply) -> None:
        for entry in self._entries(action.arguments.get("tests"), "test", "检查项目", reply):
            if entry.id in self._unavailable:
                reply.refuse(replies.unavailable(entry), "repeated order")
            elif entry.id in self._ordered:
                reply.refuse(replies.ordered_before(entry, self._ordered[entry.id]), "repeated order")
            elif entry.id in self._panels:
                self._ordered[entry.id] = False
                reply.lines.append(replies.ordered(entry))
            else:
                self._unavailable.add(entry.id)
                reply.lines.append(replies.unavailable(entry))
                reply.marks.append(f"unavailable:{entry.id}")

    def _consult(self, action: Action, reply: _Reply) -> None:
        name = str(action.arguments.get("department") or "").strip()
        department = self._known.find("department", name).entry
        if department is None:
            reply.refuse(replies.unknown(name[:_NAMED], "科室"), "unknown department")
            return
        given = action.arguments.get("tests")
        if given:
            wanted = self._entries(given, "test", "检查项目", reply)
        else:
            pending = [self._known.by_id[key] for key, reported in self._ordered.items() if not reported]
            wanted = [entry for entry in pending if entry.department == department.name][: self._options.items]
            if not wanted:
                reply.refuse(replies.nothing_pending(department), "nothing to report")
        for entry in wanted:
            self._report(department, entry, reply)

    def _report(self, department: Entry, entry: Entry, reply: _Reply) -> None:
        if entry.department != department.name:
            reply.refuse(replies.wrong_department(department, entry), "wrong department")
        elif entry.id in self._unavailable:
            reply.refuse(replies.unavailable(entry), "not available")
        elif entry.id not in self._ordered:
            reply.refuse(replies.not_ordered(department, entry), "not ordered")
        elif self._ordered[entry.id]:
            reply.refuse(replies.reported_before(department, entry), "repeated report")
        else:
            self._ordered[entry.id] = True
            for panel in self._panels[entry.id]:
                self._received.append(panel)
                reply.lines.append(replies.report(department, panel))
                reply.marks.append(f"record:{panel.id}")

    def _search(self, action: Action, reply: _Reply) -> None:
        if not self._searches_left:
            reply.refuse(replies.NO_SEARCH_LEFT, "search past the budget")
            return
        self._searches_left -= 1
        if str(action.arguments.get("query") or "").strip():
            reply.lines.append(replies.NO_LIBRARY)
        else:
            reply.refuse(replies.NO_QUERY, "empty search")

    def _entries(self, given: object, kind: str, what: str, reply: _Reply) -> list[Entry]:
        """Look up the items of an action, the first few of them; what is wrong with them is said."""
        names = [name for one in _texts(given) for part in _BETWEEN.split(one) if (name := part.strip())]
        if not names:
            reply.refuse(replies.NO_ITEM, "no item")
        found: list[Entry] = []
        for name in names[: self._options.items]:
            looked = self._known.find(kind, name)  # type: ignore[arg-type]
            if looked.entry is not None:
                found.append(looked.entry)
            elif looked.between:
                reply.refuse(replies.ambiguous(name[:_NAMED], looked.between), "ambiguous item")
            else:
                reply.refuse(replies.unknown(name[:_NAMED], what), "unknown item")
        if len(names) > self._options.items:
            reply.refuse(replies.too_many(self._options.items, len(names) - self._options.items), "too many items")
        return found

    # ── integrity check ──────────────────────────────────────────────────────────────────────────

    def _leave_workup(self, reply: _Reply) -> None:
        pictured = [panel for panel in self._received if panel.pictured]
        if not pictured:
            self._enter("conclusion")
            reply.lines.append(replies.NOTHING_TO_CHECK)
            return
        self._shown, self._swapped = probed(pictured, self._draw)
        self._gate = (self._draw.kind or "clean") if self._swapped else "clean"
        self._enter("integrity")
        reply.lines.append(replies.listing(self._shown))

    def _in_integrity(self, action: Action, text: str) -> Step:
        reply = _Reply()
        said = self._written(action, text, reply)
        verdict = VERDICTS.get(str(action.arguments.get("verdict") or "").strip().lower())
        if action.name != "gate_verdict" or verdict is None:
            self._tries -= 1
            reply.refuse(replies.NO_VERDICT, "no verdict")
            if self._tries:
                reply.lines.append(replies.ONCE_MORE)
                return self._logged(action, said, reply)
            reply.marks.append(f"gate:{self._gate}:none")
        else:
            reply.lines.append(replies.CHECKED)
            reply.marks.append(f"gate:{self._gate}:{self._outcome(verdict, action, reply)}")
        self._after_gate(reply)
        return self._logged(action, said, reply)

    def _outcome(self, verdict: Verdict, action: Action, reply: _Reply) -> str:
        """Name what a verdict was: right (`passed`, `caught`), `missed`, `misnamed`, or a `false_alarm`."""
        if self._gate == "clean":
            return "passed" if verdict == "consistent" else "false_alarm"
        named = {squash(one) for one in _texts(action.arguments.get("images"))}
        if named and self._swapped and squash(self._swapped) in named:
            reply.marks.append(f"gate:{self._gate}:located")
        if verdict == "consistent":
            return "missed"
        return "caught" if verdict == f"{self._gate}_mismatch" else "misnamed"

    def _after_gate(self, reply: _Reply) -> None:
        """After a probed check the pictures are sent again as they are; after any other the conclusion is due."""
        if self._gate == "clean":
            self._enter("conclusion")
            reply.lines.append(replies.CONCLUDE)
            return
        self._gate, self._swapped, self._tries = "clean", None, TRIES
        self._shown = pictures([panel for panel in self._received if panel.pictured])
        reply.lines += [replies.SENT_AGAIN, replies.listing(self._shown)]

    # ── conclusion ───────────────────────────────────────────────────────────────────────────────

    def _in_conclusion(self, action: Action, text: str) -> Step:
        reply = _Reply()
        said = self._written(action, text, reply)
        if action.name == "final_diagnosis" and _texts(action.arguments.get("diagnoses")):
            return self._logged(action, said, reply, kind="diagnose", ended="diagnosed")
        if action.name == "defer_to_human":
            return self._logged(action, said, reply, kind="summary", ended="deferred")
        self._tries -= 1
        reply.refuse(replies.NO_DIAGNOSIS, "no conclusion")
        if self._tries:
            reply.lines.append(replies.ONCE_MORE)
            return self._logged(action, said, reply)
        return self._logged(action, said, reply, ended="budget")

    # ── every phase ──────────────────────────────────────────────────────────────────────────────

    def _enter(self, phase: Phase) -> None:
        self._phase, self._tries = phase, TRIES

    def _written(self, action: Action, text: str, reply: _Reply) -> str:
        """Return the doctor's turn: its own words, or the action in words; never too long, never another speaker's."""
        own = before_other_speaker(text)
        if own != text:
            reply.wrong.append("speaks for the patient")
        said = own.strip()
        if action.name != "ask" and action.form != "text":
            said = _in_words(action)
        if len(said) > self._options.max_turn_chars:
            reply.wrong.append(f"longer than {self._options.max_turn_chars} characters")
            said = said[: self._options.max_turn_chars].strip()
        return said

    def _logged(
        self, action: Action, said: str, reply: _Reply, *, kind: str = "question", question: str | None = None,
        ended: str | None = None,
    ) -> Step:  # fmt: skip
        """Make the step: the action is logged with all that was wrong with it."""
        text = "\n".join(reply.lines)
        turns = (Turn(index=0, round=0, role="reporter", kind="report", text=text),) if text and not ended else ()
        wrong = (*action.violations, *reply.wrong)
        return Step(
            kind, said or "（空白）", question=question, turns=turns, ended=ended, breaches=wrong,  # type: ignore[arg-type]
            action=msgspec.structs.replace(action, violations=wrong), marks=tuple(reply.marks),
        )  # fmt: skip


def _texts(given: object) -> list[str]:
    if isinstance(given, str):
        return [given] if given.strip() else []
    if not isinstance(given, Iterable):
        return []
    return [one for one in given if isinstance(one, str) and one.strip()]


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
    values = [one for value in action.arguments.values() for one in _texts(value)]
    name = _WORDS.get(action.name, action.name)
    return f"{name}：{'；'.join(values)}。" if values else f"{name}。"
