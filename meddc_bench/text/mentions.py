"""Whether a text names a disease: Chinese by its characters, a Latin name by whole words."""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text.normal import normalise, squash

_WORD = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[㐀-鿿]")


def mentions(text: str, name: str) -> bool:
    """Say whether a name stands in a text; `cold` does not stand in `scolded`, nor `acne` in `acneiform`.

    A name of one Chinese character, or without any letter, is never found.

    >>> mentions("She has had Acne-vulgaris.", "acne vulgaris"), mentions("acneiform lesions", "acne")
    (True, False)
    """
    if _HAN.search(name):
        short = squash(name)
        return len(short) > 1 and short in squash(text)
    wanted = _words(name)
    return bool(wanted.strip()) and wanted in _words(text)


@lru_cache(maxsize=8192)
def _words(text: str) -> str:
    """Give the words between blanks, plurals as singulars: ` acne vulgari `."""
    return f" {' '.join(_single(word) for word in _WORD.findall(normalise(text).casefold()))} "


def _single(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
