"""The consultation of protocol TrustMed v1.0: history, workup, integrity check, conclusion.

    history      ask, begin_workup                                  the case's budget of questions, 10 as a rule
    workup       physical_examination, order_tests,                 20 turns; a search costs one of them and one of 3
                 consult_specialist, search, gate_verdict (ends it)
    integrity    gate_verdict                                       skipped where no picture was received
    conclusion   final_diagnosis, defer_to_human                    one retry

An action that cannot be carried out gets a fixed reply, costs its turn, and stays in the log with what was wrong with it.
Ordering a test yields no result: its report comes from the department that reports on it. What a case has no record of is
said to be unavailable. Nothing here draws on anything but the case and the seed, and
a search on its library.
"""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Sequence
from typing import Literal

import msgspec
from pydantic import Field

from meddc_bench.contracts import Budget, Context, MenuItem, Options, Step
from meddc_bench.environments.catalogue import catalogue_faults
from meddc_bench.environments.library import Library, NoSearch, Passage, Search, open_library
from meddc_bench.environments.menus import VERDICTS, Phase, Verdict, menu, vocabulary
from meddc_bench.environments.orders import Effect, Orders, texts
from meddc_bench.environments.probes import Draw, Picture, donor_picture, draw, pictures, probed
from meddc_bench.environments.speech import speech
from meddc_bench.environments.wording import is_repeat, own_words, question_keys, within
from meddc_bench.errors import InputError
from meddc_bench.osce import Workup
from meddc_bench.records import Action, Case, Media, Turn
from meddc_bench.text import one_line, squash

_MARKUP = re.compile(r"\s*(?:<[A-Za-z_/]|\{\s*\")")
TRIES = 2
"""Turns for a verdict or a conclusion: one, and one retry."""


class WorkupOptions(Options):
    """Options of the environment: budgets, integrity probes, pictures, and the library that can be searched.

    `probes`: the share of visits that are probed. `withheld`: the share whose test records are held back, so that
    deferring is right. `pictures`: whether they come with their reports and again at the check, or at the check alone.
    """

    max_turn_chars: int = Field(4000, ge=1)
    questions: int | None = Field(None, ge=1, le=50)
    workup_turns: int = Field(20, ge=1, le=200)
    searches: int = Field(3, ge=0, le=20)
    items: int = Field(4, ge=1, le=20)
    probes: float = Field(0.5, ge=0, le=1)
    withheld: float = Field(0.0, ge=0, le=1)
    pictures: Literal["reports", "check"] = "reports"
    search: Search = NoSearch()


class WorkupEnvironment:
    """Makes visits; stateless. `questions` overrides the cases' own budget, for trainers."""

    def __init__(self, options: WorkupOptions, context: Context):
        self._options, self._library = options, open_library(options.search)

    def media(self, sha256: str) -> bytes | None:
        """Return the bytes of a donor's picture."""
        return donor_picture(sha256)

    async def aclose(self) -> None:
        """Close the connections to a library on another machine."""
        close = getattr(self._library, "aclose", None)
        if close is not None:
            await close()

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
        return WorkupVisit(
            case.workup, questions, self._options, draw(seed, self._options.probes), case.language,
            withheld=random.Random(f"{seed}:withheld").random() < self._options.withheld, library=self._library,
        )  # fmt: skip


class WorkupVisit:
    """One consultation in progress."""

    def __init__(
        self, workup: Workup, questions: int, options: WorkupOptions, decided: Draw, language: str = "zh", *,
        withheld: bool = False, library: Library | None = None,
    ):  # fmt: skip
        self._options, self._draw, self._language = options, decided, language
        self._withheld, self._library = withheld, library
        self._sources = frozenset(squash(one) for one in workup.sources)
        self._say = speech(language)
        profile = [one for one in workup.profile if not withheld or one.category == "physical_examination"]
        self._orders = Orders(profile, options.items, language, pictures=options.pictures == "reports")
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
        return menu(self._phase, self._language, self._options.items)

    @property
    def vocabulary(self) -> tuple[MenuItem, ...]:
        """All actions, whatever the phase: what a reply is read against."""
        return vocabulary(self._language, self._options.items)

    @property
    def budgets(self) -> dict[str, Budget]:
        return {
            "questions": Budget(self._questions, self._asked_left),
            "workup": Budget(self._options.workup_turns, self._turns_left),
            "searches": Budget(self._options.searches, self._searches_left),
            "tries": Budget(TRIES, self._tries),
            "items": Budget(self._options.items, self._options.items),
        }

    def step(self, action: Action, text: str) -> Step | Awaitable[Step]:
        """Take the doctor's action and say what follows; only a search on another machine must be waited for."""
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
            self._begin_workup(effect)
            effect.lines.append(self._say.WORKUP_BEGINS)
            return self._logged(action, self._written(action, text, effect), effect)
        self._asked_left -= 1
        said, question = self._written(action, text, effect), None
        if action.name != "ask":
            effect.refuse(self._say.not_now(action.name, "history"), f"{action.name} in the history")
        elif action.form == "text" and (action.violations or _MARKUP.match(said)):
            effect.refuse(self._say.NOT_UNDERSTOOD, "not an action")
        elif not said:
            effect.refuse(self._say.NOT_UNDERSTOOD, "empty reply")
        elif is_repeat(keys := question_keys(said, self._language), self._asked):
            effect.refuse(self._say.REPEATED, "repeated question")
        else:
            self._asked.extend(keys)
            question = said
        if not self._asked_left:
            self._begin_workup(effect)
        return self._logged(action, said, effect, question=question)

    def _begin_workup(self, effect: Effect) -> None:
        self._enter("workup")
        if self._withheld:
            effect.marks.append("withheld")

    def _in_workup(self, action: Action, text: str) -> Step | Awaitable[Step]:
        effect = Effect()
        said = self._written(action, text, effect)
        if action.name == "gate_verdict":
            self._leave_workup(effect)
            return self._logged(action, said, effect)
        self._turns_left -= 1
        if action.name == "search":
            return self._in_search(action, said, effect)
        carry_out = {
            "physical_examination": self._orders.examine,
            "order_tests": self._orders.order,
            "consult_specialist": self._orders.consult,
        }.get(action.name)
        if carry_out is not None:
            carry_out(action, effect)
        elif action.form == "text":
            effect.refuse(self._say.NOT_UNDERSTOOD, "not an action" if said else "empty reply")
        else:
            effect.refuse(self._say.not_now(action.name, "workup"), f"{action.name} in the workup")
        return self._worked(action, said, effect)

    def _worked(self, action: Action, said: str, effect: Effect) -> Step:
        """End a turn of the workup, and with the last one the workup."""
        if not self._turns_left:
            effect.lines.append(self._say.WORKUP_OVER)
            self._leave_workup(effect)
        return self._logged(action, said, effect)

    def _in_search(self, action: Action, said: str, effect: Effect) -> Step | Awaitable[Step]:
        """Look up what a search asks for, where one is left and there is a library."""
        query = " ".join(texts(action.arguments.get("query"))).strip()
        if not self._searches_left:
            effect.refuse(self._say.NO_SEARCH_LEFT, "search past the budget")
            return self._worked(action, said, effect)
        self._searches_left -= 1
        if not query:
            effect.refuse(self._say.NO_QUERY, "empty search")
        elif self._library is None:
            effect.lines.append(self._say.NO_LIBRARY)
        else:
            found = self._library.find(query, self._options.search.top_k, self._sources)
            if isinstance(found, Awaitable):
                return self._found_later(found, query, action, said, effect)
            self._tell(query, found, effect)
        return self._worked(action, said, effect)

    async def _found_later(
        self, found: Awaitable[Sequence[Passage]], query: str, action: Action, said: str, effect: Effect
    ) -> Step:
        self._tell(query, await found, effect)
        return self._worked(action, said, effect)

    def _tell(self, query: str, found: Sequence[Passage], effect: Effect) -> None:
        effect.lines.append(self._say.found(query, found, self._options.search.passage_chars))
        effect.marks.extend(f"found:{one_line(one.id, 64)}" for one in found)

    def _leave_workup(self, effect: Effect) -> None:
        pictured = [panel for panel in self._orders.received if panel.pictured]
        if not pictured:
            self._enter("conclusion")
            effect.lines.append(self._say.NOTHING_TO_CHECK)
            return
        self._shown, self._swapped = probed(pictured, self._draw, self._language)
        self._gate = (self._draw.kind or "clean") if self._swapped else "clean"
        self._enter("integrity")
        self._show(effect)

    def _in_integrity(self, action: Action, text: str) -> Step:
        effect = Effect()
        said = self._written(action, text, effect)
        verdict = VERDICTS.get(str(action.arguments.get("verdict") or "").strip().lower())
        if action.name != "gate_verdict" or verdict is None:
            self._tries -= 1
            effect.refuse(self._say.NO_VERDICT, "no verdict")
            if self._tries:
                effect.lines.append(self._say.ONCE_MORE)
                return self._logged(action, said, effect)
            effect.marks.append(f"gate:{self._gate}:none")
        else:
            effect.lines.append(self._say.CHECKED)
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
            effect.lines.append(self._say.CONCLUDE)
            return
        self._gate, self._swapped, self._tries = "clean", None, TRIES
        self._shown = pictures([panel for panel in self._orders.received if panel.pictured])
        effect.lines.append(self._say.SENT_AGAIN)
        self._show(effect)

    def _show(self, effect: Effect) -> None:
        """Show the pictures to check; in words alone where one of the records received has no file of its picture."""
        if any(one.file is None for one in self._shown):
            effect.lines.append(self._say.listing(self._shown))
            return
        effect.lines.append(self._say.CHECK_PICTURES)
        effect.media.extend(
            Media(
                sha256=one.file.sha256, type=one.file.type, label=self._say.announced(one),
                description=self._say.in_place(one),
            )
            for one in self._shown if one.file is not None
        )  # fmt: skip

    def _in_conclusion(self, action: Action, text: str) -> Step:
        effect = Effect()
        said = self._written(action, text, effect)
        if action.name == "final_diagnosis" and texts(action.arguments.get("diagnoses")):
            return self._logged(action, said, effect, kind="diagnose", ended="diagnosed")
        if action.name == "defer_to_human":
            return self._logged(action, said, effect, kind="summary", ended="deferred")
        self._tries -= 1
        effect.refuse(self._say.NO_DIAGNOSIS, "no conclusion")
        if self._tries:
            effect.lines.append(self._say.ONCE_MORE)
            return self._logged(action, said, effect)
        return self._logged(action, said, effect, ended="budget")

    def _enter(self, phase: Phase) -> None:
        self._phase, self._tries = phase, TRIES

    def _written(self, action: Action, text: str, effect: Effect) -> str:
        """Return the doctor's turn: its own words, or the action in words; never too long, never another speaker's."""
        said = own_words(text, effect.wrong)
        if action.name != "ask" and action.form != "text":
            said = self._say.in_words(action.name, [one for value in action.arguments.values() for one in texts(value)])
        return within(said, self._options.max_turn_chars, effect.wrong)

    def _logged(
        self, action: Action, said: str, effect: Effect, *, kind: str = "question", question: str | None = None,
        ended: str | None = None,
    ) -> Step:  # fmt: skip
        """Make the step: the action is logged with all that was wrong with it."""
        text = "\n".join(effect.lines)
        told = Turn(index=0, round=0, role="reporter", kind="report", text=text, media=tuple(effect.media))
        turns = (told,) if text and not ended else ()
        wrong = (*action.violations, *effect.wrong)
        return Step(
            kind, said or self._say.BLANK, question=question, turns=turns, ended=ended, breaches=wrong,  # type: ignore[arg-type]
            action=msgspec.structs.replace(action, violations=wrong), marks=tuple(effect.marks),
        )  # fmt: skip
