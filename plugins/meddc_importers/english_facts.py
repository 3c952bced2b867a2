"""Cuts English prose about a patient into atomic facts: one thing each, denials apart, what says nothing left out.

"She reports a 2-week history of cough. Denies fever, chills, or night sweats."
-> "A 2-week history of cough" · "No fever" · "No chills" · "No night sweats"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from meddc_bench.text.english import denials, english_sentences, stems

MOST_WORDS, MOST_CHARACTERS = 36, 190
"""A fact is cut below these; a case allows 40 words and 200 characters."""

_WHO = (
    r"(?:(?:the|this|his|her|their)\s+)?(?:patient|child|infant|newborn|baby|boy|girl|toddler|neonate|he|she|they|mother|father|"
    r"parents?|family(?: members)?|wife|husband|daughter|son|roommates?|teacher)(?:['’]s (?:mother|father|parents?|"
    r"family|daughter))?"
)
_SAYS = (
    r"(?:also |further |currently |additionally,? )*(?:reports?|reported|states?|stated|notes?|noted|describes?|mentions?|"
    r"mentioned|complains? of|complained of|recalls?|admits?(?: to)?|adds?|indicates?|presents? with(?! (?:complaints|a chief))|"
    r"has (?:also )?(?:noticed|noted|reported|experienced|been experiencing)|is experiencing|experiences|has experienced)"
)
_LEAD = re.compile(
    rf"^(?:{_WHO}\s+{_SAYS}|{_WHO}\s+has a history of(?=\s+experiencing)|(?:reports?|notes?|complains? of|"
    rf"admits?(?: to)?|mentions?|states?|describes?|recalls?)\b)\s+"
    r"(?:(?:that|of|having|had|experiencing|feeling|noticing|the appearance of)\s+)*",
    re.IGNORECASE,
)
_ONLY_WHO = re.compile(rf"^{_WHO}\s+(?:also |further |has |have )*", re.IGNORECASE)
_OPENER = re.compile(r"^(?:additionally|furthermore|moreover|also|in addition|of note|notably),?\s+", re.IGNORECASE)
_TURN = re.compile(
    r"^\W*(?:but|however|although|though|except(?: for)?|and|yet|he|she|also|other than)?[\s,]*(?=\S)", re.IGNORECASE
)
_NOTHING = re.compile(
    r"^\W*(?:n/?a|none|nil|unknown|not applicable.*|"
    r"(?:(?:no|any|the)\s+)?(?:(?:additional|other|further|specific|relevant|significant|detailed|medical|social|family|history|"
    r"information|data|details|review|of|systems?|systemic|symptoms?|complaints?|problems?|findings|abnormalities|and)\s+)*"
    r"(?:(?:was|were|is|are|has been|have been)\s+)?(?:not\s+)?(?:provided|specified|mentioned|reported|noted|available|given|"
    r"recorded|obtained|applicable|disclosed)\b.*|no (?:additional|other|further|specific) .*|"
    r"no significant (?:findings|social history)|"
    r".*\bnot (?:provided|specified|mentioned|recorded)|(?:(?:does|do|did) not (?:present|have|report|"
    r"complain).*\bany other\b.*)|"
    r".*\bdid(?:n['’]t| not) provide\b.*|.*unable to provide .*|.*review (?:of systems )?was (?:mentioned|performed).*)\W*$",
    re.IGNORECASE,
)
_EXAMINED = re.compile(
    r"\b(?:deep tendon|plantar response\w*|ability to move all limbs|(?:physical|clinical|"
    r"initial) exam\w* (?:shows?|showed|reveal\w*|is|was|finding\w*)|(?:on|"
    r"upon) (?:physical |clinical )?exam\w*|"
    r"during the (?:physical )?exam\w*|auscultat\w+|palpat(?:ion|ed)|percussion|temperature (?:is|of)|"
    r"blood pressure (?:is|of|was)|heart rate (?:is|of)|vital signs|noted on exam\w*|is noted to be|"
    r"murmur (?:is )?heard|laborator(?:y|ies)|biopsy (?:show|reveal)\w*|(?:ct|mri|x-ray|ultrasound)[\w ]* (?:show|reveal)\w*|"
    r"lymphadenopathy is noted|absent reflexes|(?:diminished|decreased) reflexes|oriented to time|oriented to person)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:no|negative for|denies|denied|denying|nor|(?:does|do|did) not report)\b\s*", re.IGNORECASE)
_DENYING = re.compile(
    r",?\s+(?:(?:but|and|though|although|who|while)\s+)+(?=(?:(?:he|she|they|the patient)\s+)?(?:denie[sd]|denying|"
    r"has no|had no|no\b|"
    r"(?:does|did|has|is) not\b))",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"^(?:except|other than|apart from|aside from|besides)[^,;.]*(?P<more>,?\s*(?:and|or)\s+.*)?", re.IGNORECASE
)
_HEAD = re.compile(
    r"\b(?:medical|surgical|recent|known|visual|auditory|urinary|bowel|drug|respiratory|gastrointestinal|significant|tobacco|"
    r"sick|recreational|illicit|genetic|psychiatric|nipple|skin|cardiac|neurologic(?:al)?|joint|personal|family|head|arm/hand|"
    r"new|previous|prior|other|feeding|eye|facial)$",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:no|not|never|denies|denied|without)\b", re.IGNORECASE)
_UNKNOWN = re.compile(r"\b(?:is|are|was|were) not (?:available|known|provided|specified)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:that|which|who|because|since|when|after|where|due to|if|while)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*,\s*(?:(?:and|or|nor)\s+)?|\s+(?:or|nor)\s+|\s*;\s*")
_ANY = re.compile(r"^(?:(?:any|having|experiencing|a|an|the|of|history of any|use of any)\s+)+", re.IGNORECASE)
_SEAMS = (
    re.compile(r";\s+"),
    re.compile(r",?\s+(?:but|although|however)\s+"),
    re.compile(
        r",\s+(?:and\s+)?(?=(?:he|she|they|which|who|where|with|accompanied|followed|including|described|during|for which)\b)"
    ),
    re.compile(r",\s+and\s+"),
    re.compile(r"\s+and\s+(?=(?:has|had|is|was|reports|denies|describes|notes)\b)"),
    re.compile(r",\s+"),
    re.compile(r"\s+(?:and|with|but|after|when)\s+"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """One atomic statement and whether it denies something."""

    text: str
    denied: bool = False


def says_nothing(text: str) -> bool:
    """Say whether a text only says that there is nothing to say."""
    return not stems(text) or _NOTHING.match(text.strip()) is not None


def is_examined(text: str) -> bool:
    """Say whether a sentence reports what was found on examination, which is not the patient's to tell."""
    return _EXAMINED.search(text) is not None


def atomic(text: str) -> Iterator[Said]:
    """Cut prose into atomic statements."""
    for sentence in english_sentences(text):
        yield from _parts(sentence.text)


def _parts(sentence: str) -> Iterator[Said]:
    sentence = _OPENER.sub("", sentence.strip(" .;,"))
    if not sentence or says_nothing(sentence):
        return
    seam = _DENYING.search(sentence, 3)
    if seam and stems(_LEAD.sub("", f"{sentence[: seam.start()]} ")):
        yield from _parts(sentence[: seam.start()])
        yield from _parts(sentence[seam.end() :])
        return
    covered = denials(sentence)
    before = sentence[: _negator(sentence, covered[0][0])] if covered else ""
    if not covered or stems(_ONLY_WHO.sub("", _LEAD.sub("", f"{before} "))):
        yield from _short(_stated(sentence), denied=False)
        return
    start, end = covered[0]
    negator, rest = sentence[_negator(sentence, start) : start].strip(), sentence[end:]
    if (exception := _EXCEPTION.match(rest)) is not None:
        end += exception.end()
        rest = sentence[end:]
    yield from _denied(negator, sentence[start:end], sentence[:end])
    rest = _TURN.sub("", rest)
    if stems(rest):
        yield from _parts(rest[:1].upper() + rest[1:])


def _negator(sentence: str, end: int) -> int:
    """Return where the words of denial begin that end at a place."""
    match = re.search(r"(?:(?:does|do|did|has|have|had) not |negative )?\S+\s*$", sentence[:end])
    return match.start() if match else end


def _denied(negator: str, body: str, whole: str) -> Iterator[Said]:
    """Cut a denied list into its items; a denial with a verb or a clause of its own stays whole."""
    body = re.sub(r"[\s,;]+(?:and|but|or)?\s*$", "", body).strip(" ,.;")
    if _LISTED.fullmatch(negator) is None or _CLAUSE.search(body):
        yield from _short(_stated(whole.strip(" ,.;")), denied=True)
        return
    for item in _items(body):
        if (
            not says_nothing(item)
            and not _UNKNOWN.search(item)
            and not re.match(r"(?:other|additional)\b", item, re.IGNORECASE)
        ):
            yield from _short(f"No {item}", denied=True)


def _items(body: str) -> list[str]:
    """Cut a list at commas and `or`, not between two adjectives of one noun (medical or surgical history)."""
    found: list[str] = []
    start = 0
    for match in _ITEM.finditer(body):
        piece = body[start : match.start()]
        if (
            "," not in match.group()
            and ";" not in match.group()
            and (_HEAD.search(piece) or piece.count("(") > piece.count(")"))
        ):
            continue
        if piece.count("(") > piece.count(")"):
            continue
        found.append(piece)
        start = match.end()
    found.append(body[start:])
    return [item for one in found if (item := _ANY.sub("", one.strip(" .")))]


def _stated(sentence: str) -> str:
    """Take the words of report off a statement: `She notes that it worsens` is `It worsens`."""
    rest = _LEAD.sub("", sentence)
    return rest[:1].upper() + rest[1:]


def _short(text: str, *, denied: bool) -> Iterator[Said]:
    """Cut a statement that is too long where it joins, the first kind of seam that it has."""
    if len(text) <= MOST_CHARACTERS and len(text.split()) <= MOST_WORDS:
        if stems(text):
            text = _plainly(text)
            yield Said(text, denied and _DENIES.search(text) is not None)
        return
    first, second = _halves(text)
    yield from _short(first, denied=denied)
    yield from _short(second[:1].upper() + second[1:], denied=denied)


def _plainly(text: str) -> str:
    """Write `doesn't` as `does not`, so that a denial can be told as one."""
    text = re.sub(r"\bcan['’]t\b", "cannot", re.sub(r"\bwon['’]t\b", "will not", text))
    return re.sub(r"(?<=[a-z])n['’]t\b", " not", text)


def _halves(text: str) -> tuple[str, str]:
    middle = len(text) / 2
    for seam in _SEAMS:
        places = [match.span() for match in seam.finditer(text) if match.start() > 25 and match.end() < len(text) - 15]
        if places:
            start, end = min(places, key=lambda place: abs(place[0] - middle))
            return text[:start], text[end:]
    space = text.rfind(" ", 1, int(middle) + 1)
    at = space if space > 0 else int(middle)
    return text[:at], text[at:].strip()
