"""Forms for comparison: one spelling for width, case, script, numerals and punctuation."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

import msgspec
from rapidfuzz import fuzz

from meddc_bench.text.hygiene import clean
from meddc_bench.text.numerals import arabic, edits, hinted

_PUNCTUATION = str.maketrans(
    {
        "。": ".", "、": ",", "“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"',
        "【": "[", "】": "]", "〔": "[", "〕": "]", "《": "<", "》": ">", "〈": "<", "〉": ">", "—": "-", "–": "-",
        "‐": "-", "‑": "-", "−": "-", "─": "-", "﹣": "-", "～": "~", "〜": "~", "∼": "~", "·": ".", "•": ".", "⋅": ".",
        "×": "x", "´": "'", "`": "'", "\u3000": " ", "\u00a0": " ", "°": "°",
    }
)  # fmt: skip
_ZHUO = re.compile(r"(?<![显顯卓名论土巨])著(?![名作称稱述书書者])")
_DROP = re.compile(r"(?<!\d)[.\-:/~]|[.\-:/~](?!\d)|[^\w.\-:/~+%°]|_")
_PLAIN = re.compile(r"[\u4e00-\u9fff0-9a-z,.?! ]*")


@lru_cache(maxsize=1)
def _traditional() -> frozenset[str]:
    return frozenset(map(chr, _simplified())) | {"著"}


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    """The traditional characters with a different simplified form, from OpenCC's table."""
    import opencc

    table = Path(opencc.__file__).parent / "dictionary" / "TSCharacters.txt"
    pairs = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines() if "\t" in line)
    found = {ord(old): new.split(" ")[0] for old, new in pairs}
    found = {code: new for code, new in found.items() if len(new) == 1 and chr(code) != new}
    while any(ord(new) in found for new in found.values()):
        found = {code: found.get(ord(new), new) for code, new in found.items() if found.get(ord(new)) != chr(code)}
    return found


def simplified(text: str) -> str:
    """Write traditional characters as simplified ones, one for one, so that places stay."""
    return text if _traditional().isdisjoint(text) else _zhuo(text.translate(_simplified()))


def _fold(text: str) -> str:
    """Clean, NFKC, casefold, simplified script, one punctuation; numerals as they are."""
    text = clean(text)
    if not _PLAIN.fullmatch(text):
        text = clean(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))
    return _zhuo(text.translate(_simplified()).translate(_PUNCTUATION))


def _zhuo(text: str) -> str:
    """Write the particle 著 as 着, not that of 显著 or 著名; a lone character stays."""
    return _ZHUO.sub("着", text) if "著" in text and len(text) > 1 else text


@lru_cache(maxsize=32768)
def normalise(text: str) -> str:
    """Give the comparison form: `Ⅱ型`, `二型` and `２型` become `2型`, `半年` becomes `6个月`, 繁體 becomes 繁体."""
    if _PLAIN.fullmatch(text) and hinted(text) is None and _traditional().isdisjoint(text):
        return text
    for _ in range(4):
        folded = arabic(_fold(text))
        if folded == text:
            break
        text = folded
    return text


@lru_cache(maxsize=32768)
def squash(text: str) -> str:
    """Normalise and drop white space and punctuation (kept: marks inside numbers, + and %)."""
    return _DROP.sub("", normalise(text))


def same(a: str, b: str) -> bool:
    """Say whether two texts are equal once squashed (texts of punctuation alone: once normalised)."""
    left, right = squash(a), squash(b)
    return left == right if left or right else normalise(a) == normalise(b)


def contains(text: str, quote: str) -> bool:
    """Say whether a quote stands in a text, whatever the width, case, script, spacing and punctuation."""
    wanted = squash(quote)
    if not wanted:
        return bool(quote.strip()) and normalise(quote) in normalise(text)
    return wanted in squash(text) or _DROP.sub("", _fold(quote)) in _DROP.sub("", _fold(text))


def similarity(a: str, b: str) -> float:
    """Rate the likeness of two texts from 0 to 1 (1: equal once squashed); symmetric."""
    left, right = squash(a), squash(b)
    if left == right:
        return 1.0
    return fuzz.ratio(left, right) / 100


class Aligned(msgspec.Struct, frozen=True):
    """A squashed text whose every character knows where in the source it came from."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Give the range of the source behind `text[start:end]`."""
        if end <= start:
            return (self.starts[start], self.starts[start]) if start < len(self.starts) else (0, 0)
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=4096)
def _folded_char(char: str) -> str:
    return _fold(char)


@lru_cache(maxsize=8192)
def aligned(text: str) -> Aligned:
    """Squash a text and keep the way back to its characters."""
    chars: list[str] = []
    places: list[tuple[int, int]] = []
    for at, char in enumerate(text):
        for piece in _folded_char(char):
            chars.append(piece)
            places.append((at, at + 1))
    folded = _zhuo("".join(chars))
    for start, end, new in reversed(edits(folded)):
        folded = folded[:start] + new + folded[end:]
        places[start:end] = [(places[start][0], places[end - 1][1])] * len(new)
    dropped = {at for match in _DROP.finditer(folded) for at in range(*match.span())}
    kept = [at for at in range(len(folded)) if at not in dropped]
    return Aligned(
        "".join(folded[at] for at in kept),
        tuple(places[at][0] for at in kept),
        tuple(places[at][1] for at in kept),
    )
