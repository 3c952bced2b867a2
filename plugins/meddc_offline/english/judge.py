"""The judge `lexical` for English cases: every step by stems, the thesaurus and the handbook, the same answer every time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from meddc_bench.contracts import Context, Found, JudgeView, Options, Reference
from meddc_bench.records import DIMENSIONS, Edge, Item, Turn
from meddc_bench.text import contains
from meddc_bench.text.english import english_questions, english_sentences
from meddc_offline.english import diagnoses
from meddc_offline.english.handbook import handbook
from meddc_offline.english.patient import select_text
from meddc_offline.english.terms import names, shared, told, weight

MODEL = "lexical"
_ALIKE = 0.6
_COVERED = 0.67
_HEADINGS = {
    "diagnosis": r"(?:final |working |most likely |differential |primary )?(?:diagnos[ei]s|impression|assessment)",
    "tests": r"(?:recommended |further |suggested )?(?:tests?|investigations?|work-?up|laborator(?:y|ies)|imaging)",
    "treatment": r"(?:treatment|management|procedures?)",
    "medication": r"(?:medications?|drugs?|prescriptions?)",
    "lifestyle": r"(?:lifestyle|diet(?:ary)? advice)",
    "guidance": r"(?:guidance|follow-?up|advice|safety net)",
}
_HEADING = re.compile(
    r"^\W*(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in _HEADINGS.items()) + r")\W*:\W*(?P<rest>.*)$",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:(?:most likely|likely|probable|final|working) diagnosis (?:is|would be)|diagnosis of|diagnosed with|"
    r"consistent with|most likely(?: has| is)?|"
    r"suspect(?:ed)?|suggests?|you (?:probably |likely )?have|impression is)\s+(?:an? |the )?(?P<name>[^.;,\n]{3,80})",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?P<text>.+)$")
_NOT = re.compile(r"\b(?:rule out|ruled out|unlikely|no evidence of|not|without|history of)\s*$", re.IGNORECASE)
_RELATIONS = {
    "full": "the same diagnosis",
    "core": "the same disease, qualifiers differ",
    "partial": "one of the diseases named",
}


class EnglishLexical:
    """Answers each judge step without a language model."""

    def __init__(self, options: Options | None = None, context: Context | None = None):
        self._steps = {
            "extract_items": _extract_items,
            "cover_items": _cover_items,
            "grade_diagnoses": _grade_diagnoses,
            "extract_questions": _extract_questions,
            "align_questions": _align_questions,
            "cover_targets": _cover_targets,
            "volunteered": _volunteered,
        }

    async def judge(self, view: JudgeView) -> Found:
        """Answer one step of one axis."""
        return self._steps[view.step](view)


# ── diagnoses and plans ──────────────────────────────────────────────────────────────────────────


def _extract_items(view: JudgeView) -> Found:
    rows = list(dict.fromkeys(_items(view.text)))
    kept: list[tuple[str, str, str]] = []
    for row in rows:
        if sum(one[0] == row[0] for one in kept) < view.top_k:
            kept.append(row)
    return Found(
        items=tuple(
            Item(id=f"p{number}", text=text, quote=quote, dimension=dimension)
            for number, (dimension, text, quote) in enumerate(kept)
        ),
        model=MODEL,
    )


def _items(text: str) -> Iterator[tuple[str, str, str]]:
    """Read lists under headings; where no heading names the diagnoses, what the prose calls the diagnosis."""
    dimension, headed = "", False
    for line in text.split("\n"):
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading is not None:
            dimension = next(name for name in _HEADINGS if heading[name])
            headed = headed or dimension == "diagnosis"
            body = heading["rest"]
        elif bullet is not None and dimension:
            body = bullet["text"]
        else:
            dimension = dimension if not line.strip() else ""
            continue
        for one in re.split(r"\s*;\s*", body):
            if (short := one.split(" - ")[0].strip(" .*")) and names(short):
                yield dimension, short, short
    if headed:
        return
    for match in _CUE.finditer(text):
        if not _NOT.search(text[: match.start()]):
            yield "diagnosis", match["name"].strip(), match["name"].strip()
    for disease in handbook().values():
        for name in (disease.name, *disease.same, *disease.also):
            found = re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) if len(name) > 4 else None
            if found and not _NOT.search(text[: found.start()]):
                yield "diagnosis", found.group(), found.group()
                break


def _cover_items(view: JudgeView) -> Found:
    edges = (
        Edge(prediction=item.id, reference=one.id, reason=reason)
        for item in view.items
        for one in view.references
        if (reason := _covers(view.axis, item.text, one)) is not None
    )
    return Found(edges=tuple(edges), model=MODEL)


def _covers(axis: str, prediction: str, reference: Reference) -> str | None:
    if axis not in DIMENSIONS:
        return diagnoses.covers(prediction, reference.text, reference.synonyms)
    said, denied = told(prediction)
    for name in (reference.text, *reference.synonyms):
        wanted, refused = told(name)
        if bool(refused) != bool(denied):
            continue
        wanted, mine = wanted | refused, said | denied
        if wanted and shared(wanted, mine) >= _COVERED * sum(map(weight, wanted)):
            return "the same by its words"
    return None


def _grade_diagnoses(view: JudgeView) -> Found:
    edges = (
        Edge(prediction=item.id, reference=one.id, level=level, reason=_RELATIONS[level])
        for item in view.items
        for one in view.references
        if (level := diagnoses.grade(item.text, one.text, one.synonyms)) is not None
    )
    return Found(edges=tuple(edges), model=MODEL)


# ── questions ────────────────────────────────────────────────────────────────────────────────────


def _extract_questions(view: JudgeView) -> Found:
    items: list[Item] = []
    for turn in view.turns:
        if turn.role == "doctor":
            for unit in english_questions(turn.text):
                items.append(
                    Item(id=f"u{len(items)}", text=unit.quote, quote=unit.quote, turn=turn.index, round=turn.round)
                )
    return Found(items=tuple(items), model=MODEL)


def _align_questions(view: JudgeView) -> Found:
    edges = (
        Edge(prediction=item.id, reference=str(turn.index), level="aligned", reason="the same words, or most of them")
        for item in view.items
        if (turn := _turn_of(item, view.turns)) is not None
    )
    return Found(edges=tuple(edges), model=MODEL)


def _turn_of(item: Item, turns: tuple[Turn, ...]) -> Turn | None:
    doctor = [turn for turn in turns if turn.role == "doctor"]
    for text in filter(None, (item.quote, item.text)):
        for turn in doctor:
            if contains(turn.text, text):
                return turn
    rated = [
        (_likeness(item.text, unit.quote), -turn.index, turn)
        for turn in doctor
        for unit in english_questions(turn.text)
    ]
    best = max(rated, key=lambda row: row[:2], default=None)
    return best[2] if best is not None and best[0] >= _ALIKE else None


def _likeness(one: str, other: str) -> float:
    a, b = names(one), names(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def _cover_targets(view: JudgeView) -> Found:
    edges = (
        Edge(prediction=item.id, reference=one.id, quote=item.quote, reason=reason)
        for item in view.items
        for one in view.references
        if (reason := _elicits(item.text, one)) is not None
    )
    return Found(edges=tuple(edges), model=MODEL)


def _elicits(question: str, reference: Reference) -> str | None:
    """Say why a question covers a target: it asks the same, or a patient who knew only its facts would tell them."""
    wanted = names(reference.text)
    if wanted and shared(wanted, names(question)) >= _COVERED * sum(map(weight, wanted)):
        return "asks the same"
    if reference.facts and select_text(reference.facts, reference.inquiry_type or "associated", question):
        return "would elicit it"
    return None


def _volunteered(view: JudgeView) -> Found:
    edges = []
    for reference in view.references:
        for turn in view.turns:
            quote = _told_by(turn.text, reference.facts) if turn.role == "patient" else None
            if quote:
                edges.append(
                    Edge(
                        prediction=str(turn.index), reference=reference.id, level="volunteered", quote=quote,
                        reason="the patient has told it",
                    )
                )  # fmt: skip
                break
    return Found(edges=tuple(edges), model=MODEL)


def _told_by(text: str, facts: tuple[str, ...]) -> str | None:
    """Quote the sentence that tells a fact, denials as denials."""
    for fact in facts:
        affirmed, denied = told(fact)
        for span in english_sentences(text):
            said, refused = told(span.text)
            if (affirmed or denied) and _holds(said, affirmed) and _holds(refused, denied):
                return span.text
    return None


def _holds(said: frozenset[str], wanted: frozenset[str]) -> bool:
    return not wanted or shared(said, wanted) >= 0.8 * sum(map(weight, wanted))
