"""What the reporter of a workup says of an English case; the same names as in `replies`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from meddc_bench.environments.catalogue import Entry
from meddc_bench.environments.library import Passage
from meddc_bench.environments.probes import Picture
from meddc_bench.osce import Panel
from meddc_bench.text import one_line

NOT_UNDERSTOOD = "No action that can be carried out was recognised; this turn is lost."
REPEATED = "All of this was asked before and the patient does not answer it again; this turn is lost."
WORKUP_BEGINS = "The history is over; the workup begins."
NO_ITEM = "No item was named; this turn is lost."
NO_LIBRARY = "This task has no library to search; nothing was returned."
NO_SEARCH_LEFT = "No searches are left; this turn is lost."
NO_QUERY = "No search terms were given; this turn is lost."
WORKUP_OVER = "The workup turns are used up; the workup is over."
NOTHING_TO_CHECK = "No images were received, so there is nothing to check. Give your conclusion."
CHECK_PICTURES = "Check whether the images received fit the reports they came with:"
CHECKED = "The verdict is noted."
SENT_AGAIN = "The department has sent the images again. Check them once more."
CONCLUDE = "Give your conclusion."
NO_VERDICT = "No valid verdict was given."
ONCE_MORE = "Answer once more; this is the last chance."
NO_DIAGNOSIS = "No conclusion was given. All that is left is the final diagnosis, or to defer to a senior doctor."
EXAMINATION, TEST, DEPARTMENT = "examination", "test", "department"
BLANK = "(blank)"
_PHASES = {"history": "history", "workup": "workup", "integrity": "image check", "conclusion": "conclusion"}
_WORDS = {
    "begin_workup": "Begin the workup",
    "physical_examination": "Physical examination",
    "order_tests": "Order tests",
    "consult_specialist": "Consult",
    "search": "Search",
    "gate_verdict": "Image check",
    "defer_to_human": "Defer to a senior doctor",
    "final_diagnosis": "Final diagnosis",
}


def in_words(name: str, values: Sequence[str]) -> str:
    """Write an action as a doctor's line: Order tests: imaging:CT; laboratory:hematology."""
    said = _WORDS.get(name, name)
    return f"{said}: {'; '.join(values)}." if values else f"{said}."


def not_now(name: str, phase: str) -> str:
    """Say that an action does not belong to this phase."""
    return f"This is the {_PHASES[phase]} phase; {name} cannot be carried out and this turn is lost."


def unknown(name: str, what: str) -> str:
    """Say that the catalogue has no such name."""
    return f'The catalogue has no {what} "{name}".'


def ambiguous(name: str, between: Sequence[Entry]) -> str:
    """Say which entries a name may mean."""
    return f'"{name}" says too little; write {" or ".join(one.id for one in between)}.'


def too_many(most: int, dropped: int) -> str:
    """Say that the items over the limit were not taken."""
    return f"At most {most} items at a time; the {dropped} over that were not carried out."


def examined(entry: Entry, panels: Sequence[Panel]) -> str:
    """Report a physical examination; what has no record is said to have none, never taken as normal."""
    if not panels:
        return f"[Examination: {entry.name}] This case has no record of it; do not take it as normal."
    return "\n".join(f"[Examination: {entry.name}] {_findings(panel)}" for panel in panels)


def examined_before(entry: Entry) -> str:
    return f"[Examination: {entry.name}] Done before; it is not repeated."


def ordered(entry: Entry) -> str:
    return f"[Order: {entry.id}] Accepted; its department will report on it."


def ordered_before(entry: Entry, reported: bool) -> str:
    return f"[Order: {entry.id}] {'Already reported' if reported else 'Already ordered'}; it is not repeated."


def unavailable(entry: Entry) -> str:
    return f"[Order: {entry.id}] This case has no record of it, so there is no result; do not take it as normal."


def report(department: Entry, panel: Panel) -> str:
    """Write a record's report: what was done, where the findings come from, and the findings."""
    source = ", ".join(
        part
        for part in (
            panel.modality, panel.anatomy, panel.view, panel.laterality, panel.stain and f"{panel.stain} stain",
        )
        if part
    )  # fmt: skip
    return f"[{department.name} report: {panel.title}] {f'({source}) ' if source else ''}{_findings(panel)}"


def wrong_department(department: Entry, entry: Entry) -> str:
    return f"[{department.name}] Does not report on {entry.id}; the order stands."


def not_ordered(department: Entry, entry: Entry) -> str:
    return f"[{department.name}] {entry.id} was not ordered, so there is no report."


def reported_before(department: Entry, entry: Entry) -> str:
    return f"[{department.name}] The report on {entry.id} was given before; it is not repeated."


def nothing_pending(department: Entry) -> str:
    return f"[{department.name}] No report is waiting."


def attached(panel: Panel) -> str:
    """Announce the picture that comes with a report."""
    return f"[Image: {panel.title}] "


def depicted(one: Picture) -> str:
    """Say what kind of picture one is; nothing of what is found on it."""
    shown = [f"modality {one.modality}", f"anatomy {one.anatomy}"]
    shown += [f"view {one.view}"] if one.view else []
    shown += [f"side {one.laterality}"] if one.laterality else []
    shown += [f"stain {one.stain}"] if one.stain else []
    return ", ".join(shown)


def announced(one: Picture) -> str:
    """Announce a picture to check: its number, and the record it came with."""
    return f"{one.number} | came with: {one.title}"


def in_place(one: Picture) -> str:
    """Write what stands for a picture where there are only words."""
    return f"{announced(one)} | shows: {depicted(one)}"


def listing(shown: Iterable[Picture]) -> str:
    """List the pictures to check in words alone."""
    return "\n".join([CHECK_PICTURES, *(in_place(one) for one in shown)])


def found(query: str, passages: Sequence[Passage], most: int) -> str:
    """Give what a search found, each passage on a line of at most so many characters; it cannot look like a report."""
    if not passages:
        return f'[Search] Nothing was found for "{_plain(query, 80)}".'
    lines = [f'[Search] {len(passages)} passages for "{_plain(query, 80)}":']
    for number, one in enumerate(passages, 1):
        title = f"{_plain(one.title, 120)}: " if one.title.strip() else ""
        lines.append(f"{number}. {title}{_plain(one.text, most)}")
    return "\n".join(lines)


def _plain(text: str, most: int) -> str:
    return one_line(text, most).replace("[", "(").replace("]", ")").replace("|", "/")


def _findings(panel: Panel) -> str:
    return "; ".join(finding.text.rstrip(".; ") for finding in panel.findings) + "."
