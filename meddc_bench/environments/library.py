"""What a doctor can look up in a workup: nothing, passages indexed in this process, or a library on another machine.

    search: {kind: none}
    search: {kind: embedded}                                          the shipped passages
    search: {kind: embedded, corpus: mine.jsonl, encoder: "package.module:name"}
    search: {kind: retrieve, url: "http://127.0.0.1:8000", index: "wiki-18 e5"}

A corpus is JSON lines: {"id": "…", "title": "…", "text": "…"}, and `source` where a passage is a part of a document.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, field_serializer

from meddc_bench import yamlfile
from meddc_bench.contracts import InputFile, Local, Options
from meddc_bench.errors import InputError
from meddc_bench.fingerprint import digest
from meddc_bench.text import squash

SHIPPED = Path(__file__).with_name("passages.jsonl")
QUERY_CHARACTERS = 200
"""Longest search that is looked up; the rest of a longer one is left out."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: its id, the document's title, the text, and the document's id where it has one."""

    id: str
    title: str
    text: str
    source: str = ""

    def comes_from(self, sources: frozenset[str]) -> bool:
        """Tell whether its id, title or document is among some, written as `squash` writes them."""
        return bool(sources) and any(squash(one) in sources for one in (self.id, self.title, self.source) if one)


class Library(Protocol):
    """Looks passages up; `sources` are left out."""

    def find(
        self, query: str, most: int, sources: frozenset[str]
    ) -> Sequence[Passage] | Awaitable[Sequence[Passage]]: ...


class _Search(Options):
    top_k: int = Field(3, ge=1, le=20)
    passage_chars: int = Field(400, ge=20, le=4000)


class NoSearch(_Search):
    """No library: a search says so."""

    kind: Literal["none"] = "none"


class Embedded(_Search):
    """Passages of a file, ranked by BM25; with an `encoder` by its vectors as well, and both ranks fused."""

    kind: Literal["embedded"]
    corpus: InputFile | None = None
    encoder: str | None = Field(None, pattern=r"^[\w.]+:\w+$")

    @field_serializer("corpus")
    def _by_content(self, corpus: Any) -> str:
        """Identify the shipped corpus, too, by its content."""
        return str(corpus.sha256) if corpus is not None else digest(SHIPPED.read_bytes())


class Retrieve(_Search):
    """A server of the form of Search-R1's; `index` names what it holds, and counts as the instrument's identity."""

    kind: Literal["retrieve"]
    url: Annotated[str, Local()] = Field(pattern=r"^https?://[^\s@?#]+$", exclude=True)
    index: str = Field(min_length=1, max_length=200)
    timeout: Annotated[float, Local()] = Field(10.0, gt=0, le=600, exclude=True)
    retries: Annotated[int, Local()] = Field(2, ge=0, le=20, exclude=True)


Search = Annotated[NoSearch | Embedded | Retrieve, Field(discriminator="kind")]


def open_library(search: NoSearch | Embedded | Retrieve) -> Library | None:
    """Make the library that the options name; it reads nothing before it is asked."""
    if isinstance(search, Embedded):
        from meddc_bench.environments.index import Index

        return Index(search.corpus.path if search.corpus else SHIPPED, search.encoder)
    if isinstance(search, Retrieve):
        from meddc_bench.environments.retrieve import Retriever

        return Retriever(search.url, timeout=search.timeout, retries=search.retries)
    return None


def read_passages(path: Path) -> Iterator[Passage]:
    """Read a corpus.

    Raises:
        InputError: a line is no passage, or an id is there twice.
    """
    seen: set[str] = set()
    for number, line in enumerate(yamlfile.read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not valid JSON: {error}", path=path, line=number) from None
        passage = _passage(data)
        if passage is None:
            expected = 'expected {"id": "…", "title": "…", "text": "…"}, all text, and `source` where there is one'
            raise InputError(expected, path=path, line=number)
        if passage.id in seen:
            raise InputError(f"the id {passage.id!r} is there twice", path=path, line=number, key="id")
        seen.add(passage.id)
        yield passage


def _passage(data: Any) -> Passage | None:
    if not isinstance(data, dict) or not set(data) <= {"id", "title", "text", "source"}:
        return None
    values = [data.get(key, "") for key in ("id", "title", "text", "source")]
    if not all(isinstance(one, str) for one in values) or not values[0].strip() or not values[2].strip():
        return None
    return Passage(*values)
