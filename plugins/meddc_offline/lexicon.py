"""The offline knowledge: findings and diseases with their surface forms, and the index that finds them in text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import ahocorasick
import msgspec
import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from meddc_bench.errors import InputError
from meddc_bench.text import Polarity, Subject, aligned, polarity, squash, subject

KNOWLEDGE = Path(__file__).parent / "knowledge"

Kind = Literal[
    "symptom", "sign", "onset", "trigger", "site", "character", "severity", "course", "modifying", "general", "past",
    "medication", "allergy", "personal", "obstetric", "development", "family", "test", "disease",
]  # fmt: skip

_Strings = Annotated[tuple[str, ...], BeforeValidator(lambda value: tuple(value or ()))]
_Weights = Annotated[Mapping[str, float], BeforeValidator(lambda value: value or {})]


class Known(BaseModel):
    """Base of what the knowledge files hold: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Finding(Known):
    """A finding with its surface forms (`also`), the more general findings that include it and a question for it."""

    name: str = Field(min_length=1)
    kind: Kind
    system: str
    also: _Strings = ()
    broader: _Strings = ()
    ask: str = ""


class Disease(Known):
    """A disease: names, relatives, who gets it, and findings weighed for and against it."""

    name: str = Field(min_length=1)
    synonyms: _Strings = ()
    broader: _Strings = ()
    siblings: _Strings = ()
    department: str = ""
    sex: Literal["男", "女"] | None = None
    age: tuple[float, float] | None = None
    onset: _Strings = ()
    key: _Strings = ()
    findings: _Weights = {}
    against: _Weights = {}
    tests: _Strings = ()


class Mention(msgspec.Struct, frozen=True):
    """A finding or disease named at `start:end` of a text, whether it is there, and whose it is."""

    name: str
    kind: str
    start: int
    end: int
    polarity: Polarity
    subject: Subject


class _Hit(msgspec.Struct, frozen=True):
    """A form found in a squashed text."""

    start: int
    end: int
    name: str
    kind: str
    gap: bool


_GAP = 6
_Entry = TypeVar("_Entry", Finding, Disease)


class Lexicon:
    """Findings and diseases by name, and `find` over an Aho-Corasick index of their normalised forms."""

    def __init__(self, findings: Iterable[Finding], diseases: Iterable[Disease]):
        self.findings: Mapping[str, Finding] = _united(findings)
        self.diseases: Mapping[str, Disease] = {disease.name: disease for disease in diseases}
        self._canonical: dict[str, str] = {}
        for disease in self.diseases.values():
            for form in disease.synonyms:
                self._canonical.setdefault(squash(form), disease.name)
        self._canonical.update({squash(name): name for name in self.diseases})
        self._gaps: list[tuple[re.Pattern[str], str, str]] = []
        self._index = self._build()
        self._above: dict[str, frozenset[str]] = {}
        self._cached = lru_cache(maxsize=8192)(self._find)

    @staticmethod
    def load(folder: Path | None = None) -> Lexicon:
        """Read the knowledge (once a process for each folder)."""
        return _load(folder or KNOWLEDGE)

    def _build(self) -> ahocorasick.Automaton:
        forms: dict[str, list[tuple[str, str]]] = {}
        gaps: dict[str, list[int]] = {}
        for name, kind, form in self._forms():
            parts = [squash(part) for part in re.split(r"…+|\.{3,}", form)]
            parts = [part for part in parts if part]
            if len(parts) > 1:
                pattern = re.compile(f".{{0,{_GAP}}}?".join(re.escape(part) for part in parts))
                gaps.setdefault(parts[0], []).append(len(self._gaps))
                self._gaps.append((pattern, name, kind))
            elif parts and len(parts[0]) > 1 and (name, kind) not in forms.setdefault(parts[0], []):
                forms[parts[0]].append((name, kind))
        index = ahocorasick.Automaton()
        for word in forms.keys() | gaps.keys():
            index.add_word(word, (len(word), tuple(forms.get(word, ())), tuple(gaps.get(word, ()))))
        if len(index):
            index.make_automaton()
        return index

    def _forms(self) -> Iterator[tuple[str, str, str]]:
        for finding in self.findings.values():
            for form in (finding.name, *finding.also):
                yield finding.name, finding.kind, form
        for disease in self.diseases.values():
            for form in (disease.name, *disease.synonyms):
                yield disease.name, "disease", form

    def find(self, text: str) -> tuple[Mention, ...]:
        """List the findings and diseases a text names, in order; a form inside a longer one does not count."""
        return self._cached(text)

    def _find(self, text: str) -> tuple[Mention, ...]:
        form = aligned(text)
        mentions = []
        for hit in self._hits(form.text):
            start, end = form.source(hit.start, hit.end)
            mentions.append(
                Mention(hit.name, hit.kind, start, end, polarity(text, start, end), subject(text, start, end))
            )
        return tuple(mentions)

    def _hits(self, text: str) -> list[_Hit]:
        """Match the forms, longest first; gap forms neither hide nor are hidden."""
        if not len(self._index):
            return []
        plain: list[_Hit] = []
        gapped: dict[str, _Hit] = {}
        for last, (length, names, gaps) in self._index.iter(text):
            start = last - length + 1
            plain += [_Hit(start, last + 1, name, kind, False) for name, kind in names]
            for gap in gaps:
                pattern, name, kind = self._gaps[gap]
                if name not in gapped and (match := pattern.match(text, start)):
                    gapped[name] = _Hit(start, match.end(), name, kind, True)
        kept = _longest(plain)
        same = {name: [hit for hit in kept if hit.name == name] for name in gapped}
        kept += [hit for name, hit in gapped.items() if not any(_overlap(other, hit) for other in same[name])]
        return sorted(kept, key=lambda hit: (hit.start, hit.end, hit.kind, hit.name))

    def ancestors(self, name: str) -> frozenset[str]:
        """Give every more general name of a finding or disease, through all levels, without itself."""
        if name not in self._above:
            above: set[str] = set()
            queue = [name]
            while queue:
                here = queue.pop()
                entry = self.findings.get(here) or self.diseases.get(here)
                fresh = set(entry.broader) - above - {name} if entry else set()
                above |= fresh
                queue += fresh
            self._above[name] = frozenset(above)
        return self._above[name]

    def canonical_disease(self, text: str) -> str | None:
        """Give the knowledge's name for a disease called by its name or a full synonym."""
        return self._canonical.get(squash(text))


def _longest(hits: list[_Hit]) -> list[_Hit]:
    """Leave out the hits that lie inside a longer one."""
    kept: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not kept or hit.end > kept[-1].end or (hit.start, hit.end) == (kept[-1].start, kept[-1].end):
            kept.append(hit)
    return kept


def _overlap(a: _Hit, b: _Hit) -> bool:
    return a.start < b.end and b.start < a.end


def _united(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Join findings that several files describe: the first keeps its kind, forms and broader terms add up."""
    found: dict[str, Finding] = {}
    for finding in findings:
        if (held := found.get(finding.name)) is not None:
            finding = held.model_copy(
                update={
                    "also": tuple(dict.fromkeys((*held.also, *finding.also))),
                    "broader": tuple(dict.fromkeys((*held.broader, *finding.broader))),
                    "ask": held.ask or finding.ask,
                }
            )
        found[finding.name] = finding
    return found


@lru_cache(maxsize=4)
def _load(folder: Path) -> Lexicon:
    return Lexicon(_entries(folder, "findings_*.yaml", Finding), _entries(folder, "diseases_*.yaml", Disease))


def _entries(folder: Path, pattern: str, model: type[_Entry]) -> list[_Entry]:
    """Read the entries of all files of a pattern, in the order of their names."""
    found: list[_Entry] = []
    for path in sorted(folder.glob(pattern)):
        for number, raw in enumerate(_rows(path)):
            try:
                found.append(model.model_validate(raw))
            except ValidationError as error:
                details: Any = error.errors()[0]
                name = raw.get("name") if isinstance(raw, dict) else None
                key = ".".join(map(str, (name or f"entry {number + 1}", *details["loc"])))
                raise InputError(details["msg"], path=path, key=key) from error
    return found


def _rows(path: Path) -> list[Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as YAML: {error}", path=path) from error
    if not isinstance(rows, list):
        raise InputError(f"expected a list of entries, not {type(rows).__name__}", path=path)
    return rows
