"""An index of passages in this process: BM25 over characters in pairs, vectors where an encoder is named, ranks fused.

text -> 腹痛, 痛三, 三天 and whole words of letters and digits -> BM25 (bm25s)      -> rank
     -> the encoder's vector, cosine                                             -> rank
1 / (60 + rank), summed (Cormack, Clarke, Büttcher 2009: reciprocal rank fusion)
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from meddc_bench.environments.library import QUERY_CHARACTERS, Passage, read_passages
from meddc_bench.errors import UsageError
from meddc_bench.text import normalise, one_line

FUSION = 60
"""The constant of reciprocal rank fusion."""
DEPTH = 100
"""Passages of each ranking that are fused."""

_PIECE = re.compile(r"[\u3400-\u9fff]+|[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """Return what of a text is indexed: Chinese characters in pairs (one that stands alone as it is), other words whole.

    >>> tokens("腹痛3天，伴CT异常")
    ['腹痛', '3', '天', '伴', 'ct', '异常']
    """
    out: list[str] = []
    for piece in _PIECE.findall(normalise(text)):
        if piece[0] < "\u3400" or len(piece) == 1:
            out.append(piece)
        else:
            out.extend(piece[at : at + 2] for at in range(len(piece) - 1))
    return out


class Index:
    """The passages of a file; it is read, and the index built, when the first search comes.

    Args:
        path: JSON lines.
        encoder: "package.module:name" of a function that gives the vectors of a list of texts, as an array (n, d).
    """

    def __init__(self, path: Path, encoder: str | None = None):
        self._path, self._encoder = path, encoder

    def find(self, query: str, most: int, sources: frozenset[str] = frozenset()) -> tuple[Passage, ...]:
        """Return the passages that answer a query best, without those that come from `sources`.

        Raises:
            InputError: the corpus is none.
            UsageError: the encoder cannot be imported, or gives no vectors.
        """
        query = query[:QUERY_CHARACTERS]
        found = self._by_words(query)
        if self._encoder is not None:
            found = fused(found, self._by_vector(query))
        return tuple([one for at in found if not (one := self._passages[at]).comes_from(sources)][:most])

    @functools.cached_property
    def _passages(self) -> tuple[Passage, ...]:
        return tuple(read_passages(self._path))

    @functools.cached_property
    def _words(self) -> Any:
        import bm25s

        index = bm25s.BM25()
        index.index([tokens(f"{one.title} {one.text}") or [""] for one in self._passages], show_progress=False)
        return index

    @functools.cached_property
    def _encode(self) -> Callable[[Sequence[str]], np.ndarray]:
        assert self._encoder is not None
        module, _, name = self._encoder.partition(":")
        try:
            encode = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise UsageError(f"the encoder {self._encoder} of the search cannot be imported: {error}") from error
        return lambda texts: _vectors(encode, texts, self._encoder)

    @functools.cached_property
    def _matrix(self) -> np.ndarray:
        return self._encode([f"{one.title} {one.text}" for one in self._passages])

    def _by_words(self, query: str) -> list[int]:
        if not self._passages:
            return []
        known = self._words.vocab_dict
        wanted = [one for one in dict.fromkeys(tokens(query)) if one in known]
        return best(self._words.get_scores(wanted), DEPTH) if wanted else []

    def _by_vector(self, query: str) -> list[int]:
        if not self._passages or not query.strip():
            return []
        return best(self._matrix @ self._encode([query])[0], DEPTH)


def best(scores: np.ndarray, most: int) -> list[int]:
    """Return the places of the highest scores above 0, the highest first; equal ones in their own order.

    >>> best(np.array([0.0, 2.0, 3.0, 2.0]), 2)
    [2, 1]
    """
    floor = np.partition(scores, -most)[-most] if len(scores) > most else 0.0
    candidates = np.flatnonzero((scores >= floor) & (scores > 0))
    order = np.argsort(-scores[candidates], kind="stable")[:most]
    return [int(one) for one in candidates[order]]


def fused(*rankings: Sequence[int]) -> list[int]:
    """Fuse rankings: the sum of 1 / (60 + rank), equal ones in the order of the places.

    >>> fused([3, 1], [1, 2])
    [1, 3, 2]
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking, 1):
            sums[place] = sums.get(place, 0.0) + 1 / (FUSION + rank)
    return sorted(sums, key=lambda place: (-sums[place], place))


def _vectors(encode: Callable[..., Any], texts: Sequence[str], name: str | None) -> np.ndarray:
    """Encode texts to vectors of length 1."""
    try:
        found = np.asarray(encode(list(texts)), dtype=np.float32)
    except Exception as error:  # the user's own code
        words = one_line(str(error), 200)
        raise UsageError(f"the encoder {name} of the search failed: {type(error).__name__}: {words}") from error
    if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
        raise UsageError(
            f"the encoder {name} gave an array of shape {found.shape} for {len(texts)} texts, expected (n, d), all finite"
        )
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    out: np.ndarray = found / np.where(lengths > 0, lengths, 1)
    return out
