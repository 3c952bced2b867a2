"""The index of one or several ontologies: made from their files once, kept as one MessagePack file, loaded in a moment.

names (compared as `meddc_bench.text.squash` writes them) -> terms -> source, kind, parents, cross-references
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from meddc_bench.errors import InputError, UsageError
from meddc_bench.text import squash
from meddc_ontology.kinds import heights, infer
from meddc_ontology.terms import Kind, Term, read_terms

FORMAT = 1


class Use(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name's use for a term: whether it is the term's first name, and which ontologies attest it as a synonym."""

    term: int
    first: bool = False
    attested: tuple[str, ...] = ()


class Index(msgspec.Struct, frozen=True):
    """Several ontologies as arrays over their terms; `names` are in the form of comparison.

    `unknown_parents` counts parents that no file holds, which the hierarchy goes without.
    """

    format: int
    sources: tuple[str, ...]
    ids: list[str]
    labels: list[str]
    source: list[int]
    kinds: list[Kind]
    parents: list[tuple[int, ...]]
    xrefs: list[tuple[str, ...]]
    names: dict[str, tuple[Use, ...]]
    unknown_parents: int = 0

    def save(self, path: Path) -> None:
        """Write the index, whole or not at all; the same ontologies give the same bytes."""
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with open(temporary, "wb") as file:
                file.write(msgspec.msgpack.encode(self))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def load(path: Path) -> Index:
    """Load an index.

    Raises:
        InputError: it cannot be read, is no index, is torn, or was made in another format.
    """
    try:
        found = msgspec.msgpack.decode(path.read_bytes(), type=Index)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"no whole index ({error}); build it anew", path=path) from None
    if found.format != FORMAT:
        raise InputError(f"an index of format {found.format}, expected {FORMAT}; build it anew", path=path)
    return found


def build(files: Mapping[str, Path]) -> Index:
    """Make the index of ontologies from their files by label; the order of the files does not matter.

    Only names and EXACT synonyms are names: a broad, narrow or related synonym says nothing of sameness. An id names one
    term within an ontology; the same id in two of them links two terms.

    Raises:
        UsageError: no file, or one of a kind that is not known.
        InputError: a fault in a file, or a hierarchy that has a cycle.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "zh.csv"
    >>> _ = path.write_text("id,name,synonyms\\nX:1,糖尿病,消渴病\\n", encoding="utf-8")
    >>> sorted(build({"zh": path}).names)
    ['消渴病', '糖尿病']
    """
    if not files:
        raise UsageError("an index needs at least one ontology file")
    read = {label: read_terms(files[label]) for label in sorted(files)}
    terms = [term for found in read.values() for term in found]
    source = [number for number, found in enumerate(read.values()) for _ in found]
    parents, unknown = _parents(read)
    height = heights(parents)
    if isinstance(height, int):
        path = files[list(read)[source[height]]]
        message = f"{terms[height].id!r} is its own ancestor: the hierarchy has a cycle"
        raise InputError(message, path=path, line=terms[height].line)
    labels = [term.name for term in terms]
    return Index(
        format=FORMAT, sources=tuple(read), ids=[term.id for term in terms], labels=labels, source=source,
        kinds=infer(labels, parents, height, [term.kind for term in terms]), parents=parents,
        xrefs=[tuple(sorted(set(term.xrefs))) for term in terms], names=_names(terms), unknown_parents=unknown,
    )  # fmt: skip


def _parents(read: Mapping[str, Sequence[Term]]) -> tuple[list[tuple[int, ...]], int]:
    """Number the parents of all terms, each within its own ontology; count those that are not there."""
    found: list[tuple[int, ...]] = []
    unknown = 0
    for terms in read.values():
        place = {term.id: len(found) + at for at, term in enumerate(terms)}
        for term in terms:
            found.append(tuple(sorted({place[one] for one in term.parents if one in place})))
            unknown += sum(one not in place for one in term.parents)
    return found, unknown


def _names(terms: Sequence[Term]) -> dict[str, tuple[Use, ...]]:
    """Collect the terms of each name; one that is a term's first name is not its synonym as well."""
    found: dict[str, dict[int, Use]] = {}
    for number, term in enumerate(terms):
        known = set(term.xrefs)
        uses = [(term.name, Use(number, True))]
        for one in term.synonyms:
            if one.scope == "EXACT":
                attesting = sorted({source.partition(":")[0] for source in one.sources if source in known})
                uses.append((one.text, Use(number, False, tuple(attesting))))
        for text, use in uses:
            if key := squash(text):
                found.setdefault(key, {}).setdefault(number, use)
    return {key: tuple(found[key].values()) for key in sorted(found)}
