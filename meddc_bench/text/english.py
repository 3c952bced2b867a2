"""English text for comparison: stems of content words, sentences, question units, and what a denial covers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
import snowballstemmer

from meddc_bench.text.questions import Unit
from meddc_bench.text.spans import Span

HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:\.\d+)?")
_LETTERS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "é": "e", "è": "e", "ö": "o", "ü": "u", "ï": "i", "ä": "a"})
_BRITISH = (
    (re.compile(r"haem(?=[aeo])"), "hem"),
    (re.compile(r"(?<=[a-z])aemia"), "emia"),
    (re.compile(r"\boe(?=[ds])"), "e"),
    (re.compile(r"diarrhoea"), "diarrhea"),
    (re.compile(r"(?<=[a-z])tumour|\btumour"), "tumor"),
    (re.compile(r"colour"), "color"),
    (re.compile(r"oesophag"), "esophag"),
    (re.compile(r"leucocyt"), "leukocyt"),
    (re.compile(r"paediatr"), "pediatr"),
    (re.compile(r"gynaecolog"), "gynecolog"),
)
STOPWORDS = frozenset(
    " ".join(
        (
            "a about above after again all also am an and any anything are as at be because been before being",
            "between both but by can could did do does doing done down during each few for from further get gets",
            "getting go goes going got had has have having he her here hers herself him himself his how i if in",
            "into is it its itself just me more most my myself of off on once only or other our ours out over own",
            "please same she should so some something such than that the their theirs them then there these they",
            "this those through to too up very was we were what which while who whom why will with would you your",
            "yours yourself 's doctor patient ever now since currently recently lately im ive id ill youre youve",
            "its thats theres",
        )
    ).split()
)
"""Words without content of their own; negations are no stopwords: they are dropped by `stems` and read by `denials`."""
NEGATORS = frozenset(
    " ".join(
        (
            "no not never none nor neither without denies denied deny denying don't doesn't didn't isn't wasn't",
            "aren't weren't hasn't haven't hadn't can't cannot couldn't won't absent negative nil",
        )
    ).split()
)
_STOP = re.compile(
    r"(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)(?<!\bNo)"
    r"\.(?=\s|$)[\"')]*|[?!][\"')]*|\n+|;\s"
)
_REQUEST = re.compile(
    r"\b(?:please|can you|could you|would you|tell me|describe|explain|let me know|talk me through|walk me through)\b",
    re.I,
)
_ADVICE = re.compile(
    r"\b(?:i (?:recommend|suggest|advise)|you should|make sure|if you|let's|we will|we'll|i will|i'll)\b", re.I
)
_BREAK = re.compile(
    r"(?<!not )\b(?:but|however|although|though|except|apart from|aside from|other than|besides|yet|instead|whereas|because"
    r"|reports?|reported|complains?|describes?|notes?|noted|admits?|states?|presents?|mentions?|shows?|showed"
    r"|consistent with|compatible with|suggest\w*|indicat\w*|resolved|improved|worsened)\b",
    re.I,
)
_NEGATION = re.compile(
    r"\b(?:(?:does|do|did|has|have|had) not (?:report|reported|endorse|complain of|describe|notice|mention)|no|not|"
    r"never|none|nor|neither|without|denie[sd]|deny|denying|(?:does|do|did|is|was|are|were|has|have|had|can|could|"
    r"wo)n['’]t|cannot|absence of|absent|free of|negative for|lack(?:s|ed)? of|rules? out|ruled out)\b",
    re.I,
)
_HARMLESS = re.compile(
    r"\b(?:not (?:want(?:ed)?|feel(?:ing)? like)|"
    r"no longer|not only|no relief|not (?:relieved|resolved?|improv\w+|respon\w+|been able|able|blanch\w*|blanching)"
    r"|(?:does|do|did|has|have|had|is|was)n['’]t (?:respond|resolve|help|improve|relieve)\w*|no (?:improvement|response)"
    r"|not sure|without (?:relief|improvement|success|warning|trying)|no matter|cannot (?:sleep|move|walk|bend|lift|"
    r"flex|extend))\b",
    re.I,
)


class Word(msgspec.Struct, frozen=True):
    """A content word of a text: its stem and where it stands."""

    stem: str
    start: int
    end: int


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of one word: `vomiting` and `vomits` are `vomit`."""
    for pattern, plain in _BRITISH:
        word = pattern.sub(plain, word)
    found: str = _stemmer().stemWord(word)
    return found


@lru_cache(maxsize=16384)
def words(text: str) -> tuple[Word, ...]:
    """Return the content words of a text with their places, negations left out."""
    folded = text.translate(_LETTERS).lower()
    found = []
    for match in _WORD.finditer(folded):
        word = match.group().removesuffix("'s")
        if word not in STOPWORDS and word not in NEGATORS and (len(word) > 1 or word.isdigit()):
            found.append(Word(stem(word), match.start(), match.end()))
    return tuple(found)


@lru_cache(maxsize=16384)
def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words.

    >>> stems("Have you been vomiting?") == stems("Any vomits")
    True
    """
    return frozenset(word.stem for word in words(text))


@lru_cache(maxsize=16384)
def english_sentences(text: str) -> tuple[Span, ...]:
    """Cut an English text into sentences; decimals, initials and common abbreviations stay whole."""
    found, start = [], 0
    for match in (*_STOP.finditer(text), None):
        end = match.end() if match else len(text)
        piece = text[start:end]
        if stripped := piece.strip():
            at = start + piece.index(stripped)
            found.append(Span(at, at + len(stripped), stripped))
        start = end
    return tuple(found)


@lru_cache(maxsize=8192)
def english_questions(text: str) -> tuple[Unit, ...]:
    """Cut an English turn into question units: sentences that ask, and requests to tell; advice and greetings are none."""
    return tuple(Unit(span.text, span.start, span.end) for span in english_sentences(text) if _asks(span.text))


def _asks(sentence: str) -> bool:
    if not stems(sentence):
        return False
    if sentence.rstrip("\"')").endswith("?"):
        return True
    if _ADVICE.search(sentence):
        return False
    return _REQUEST.search(sentence) is not None


@lru_cache(maxsize=16384)
def denials(text: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of an English text that a denial covers: from its word to a turn of the sentence or its end.

    >>> text = "Denies fever, cough or rash, but reports chills."
    >>> [text[start:end] for start, end in denials(text)]
    [' fever, cough or rash, ']
    """
    return tuple(_denials(text))


def _denials(text: str) -> Iterator[tuple[int, int]]:
    for sentence in english_sentences(text):
        harmless = [match.span() for match in _HARMLESS.finditer(sentence.text)]
        reached = 0
        for match in _NEGATION.finditer(sentence.text):
            if match.start() < reached or any(start <= match.start() < end for start, end in harmless):
                continue
            turn = _BREAK.search(sentence.text, match.end())
            reached = turn.start() if turn else len(sentence.text)
            yield sentence.start + match.end(), sentence.start + reached


def is_denied(text: str, start: int) -> bool:
    """Say whether what begins at a place of an English text is denied there."""
    return any(first <= start < last for first, last in denials(text))


@lru_cache(maxsize=16384)
def mentioned(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems that a text affirms and those that it denies."""
    covered = denials(text)
    denied = {word.stem for word in words(text) if any(first <= word.start < last for first, last in covered)}
    return stems(text) - denied, frozenset(denied)
