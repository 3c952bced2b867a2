"""The examinations and tests of one workup: what was examined, ordered, reported, and what there is no record of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from meddc_bench.environments.catalogue import Entry, Kind, catalogue
from meddc_bench.environments.probes import pictures
from meddc_bench.environments.speech import speech
from meddc_bench.osce import Panel
from meddc_bench.records import Action, Media

_BETWEEN = re.compile(r"[、，,;；\n]")
_NAMED = 40
"""Longest name of an item that is said back."""


@dataclass
class Effect:
    """What an action led to, while it is put together."""

    lines: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)

    def refuse(self, line: str, wrong: str) -> None:
        """Say why something was not done, and note it."""
        self.lines.append(line)
        if wrong not in self.wrong:
            self.wrong.append(wrong)


class Orders:
    """Carries actions out on the records of a case, at most `items` things an action; reports come with their pictures."""

    def __init__(self, profile: Iterable[Panel], items: int, language: str = "zh", *, pictures: bool = True):
        self._items, self._known, self._say, self._pictures = items, catalogue(), speech(language), pictures
        self._panels: dict[str, tuple[Panel, ...]] = {}
        for panel in profile:
            self._panels[panel.key] = (*self._panels.get(panel.key, ()), panel)
        self._examined: set[str] = set()
        self._unavailable: set[str] = set()
        self._ordered: dict[str, bool] = {}
        """Tests ordered that have a record, by id: whether they were reported."""
        self.received: list[Panel] = []

    def examine(self, action: Action, effect: Effect) -> None:
        """Give the findings of the examinations asked for."""
        for entry in self._entries(action.arguments.get("examinations"), "examination", self._say.EXAMINATION, effect):
            if entry.id in self._examined:
                effect.refuse(self._say.examined_before(entry), "repeated examination")
                continue
            self._examined.add(entry.id)
            panels = self._panels.get(entry.id, ())
            effect.lines.append(self._say.examined(entry, panels))
            effect.marks.extend(f"examined:{panel.id}" for panel in panels)

    def order(self, action: Action, effect: Effect) -> None:
        """Take orders of tests; none yields a result yet."""
        for entry in self._entries(action.arguments.get("tests"), "test", self._say.TEST, effect):
            if entry.id in self._unavailable:
                effect.refuse(self._say.unavailable(entry), "repeated order")
            elif entry.id in self._ordered:
                effect.refuse(self._say.ordered_before(entry, self._ordered[entry.id]), "repeated order")
            elif entry.id in self._panels:
                self._ordered[entry.id] = False
                effect.lines.append(self._say.ordered(entry))
                effect.marks.extend(f"ordered:{panel.id}" for panel in self._panels[entry.id])
            else:
                self._unavailable.add(entry.id)
                effect.lines.append(self._say.unavailable(entry))
                effect.marks.append(f"unavailable:{entry.id}")

    def consult(self, action: Action, effect: Effect) -> None:
        """Let a department report on tests: those named, else those that wait for it."""
        name = str(action.arguments.get("department") or "").strip()
        department = self._known.find("department", name).entry
        if department is None:
            effect.refuse(self._say.unknown(name[:_NAMED], self._say.DEPARTMENT), "unknown department")
            return
        given = action.arguments.get("tests")
        if given:
            wanted = self._entries(given, "test", self._say.TEST, effect)
        else:
            pending = [self._known.by_id[key] for key, reported in self._ordered.items() if not reported]
            wanted = [entry for entry in pending if entry.department == department.name][: self._items]
            if not wanted:
                effect.refuse(self._say.nothing_pending(department), "nothing to report")
        for entry in wanted:
            self._report(department, entry, effect)

    def _report(self, department: Entry, entry: Entry, effect: Effect) -> None:
        if entry.department != department.name:
            effect.refuse(self._say.wrong_department(department, entry), "wrong department")
        elif entry.id in self._unavailable:
            effect.refuse(self._say.unavailable(entry), "not available")
        elif entry.id not in self._ordered:
            effect.refuse(self._say.not_ordered(department, entry), "not ordered")
        elif self._ordered[entry.id]:
            effect.refuse(self._say.reported_before(department, entry), "repeated report")
        else:
            self._ordered[entry.id] = True
            for panel in self._panels[entry.id]:
                self.received.append(panel)
                effect.lines.append(self._say.report(department, panel))
                effect.marks.append(f"record:{panel.id}")
                if panel.picture is not None and self._pictures:
                    (one,) = pictures([panel])
                    label = self._say.attached(panel)
                    effect.media.append(Media(
                        sha256=panel.picture.sha256, type=panel.picture.type, label=label,
                        description=f"{label}{self._say.depicted(one)}",
                    ))  # fmt: skip

    def _entries(self, given: object, kind: Kind, what: str, effect: Effect) -> list[Entry]:
        """Look up the items of an action, the first few of them; what is wrong with them is said."""
        names = [name for one in texts(given) for part in _BETWEEN.split(one) if (name := part.strip())]
        if not names:
            effect.refuse(self._say.NO_ITEM, "no item")
        found: list[Entry] = []
        for name in names[: self._items]:
            looked = self._known.find(kind, name)
            if looked.entry is not None:
                found.append(looked.entry)
            elif looked.between:
                effect.refuse(self._say.ambiguous(name[:_NAMED], looked.between), "ambiguous item")
            else:
                effect.refuse(self._say.unknown(name[:_NAMED], what), "unknown item")
        if len(names) > self._items:
            effect.refuse(self._say.too_many(self._items, len(names) - self._items), "too many items")
        return found


def texts(given: object) -> list[str]:
    """Return the texts of an argument that are not blank: of one text or of a list."""
    if isinstance(given, str):
        return [given] if given.strip() else []
    if not isinstance(given, Iterable):
        return []
    return [one for one in given if isinstance(one, str) and one.strip()]
