"""Tasks: a folder with `task.yaml` and its cases, or `group.yaml` that names several tasks.

tasks/meddc_record/task.yaml      task: meddc_record, include: ../meddc/protocol.yaml, cases: [cases/*.yaml]
tasks/meddc_record/cases/*.yaml   one case a file; a .jsonl file holds one case a line
tasks/meddc/group.yaml            group: meddc, tasks: [meddc_record, meddc_dialogue]
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from meddc_bench import media, osce, yamlfile
from meddc_bench.errors import InputError, UsageError, suggest
from meddc_bench.fingerprint import digest
from meddc_bench.records import Case, Decoding, JudgeStep
from meddc_bench.resources import shipped
from meddc_bench.yamlfile import Document

NAME = r"^[a-z][a-z0-9_.-]{0,63}$"
LOCK = "instruments.lock.json"
"""Beside a task.yaml: the fingerprints of the task's named instruments."""


class Config(BaseModel):
    """Base of the models of a task file: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Weights(Config):
    """Weights of D, T and E in Total (equation 2: 0.5, 0.4, 0.1)."""

    D: float = Field(0.5, ge=0, le=1)
    T: float = Field(0.4, ge=0, le=1)
    E: float = Field(0.1, ge=0, le=1)


class Sampling(Config):
    """Sampling of one role or judge step that a language model plays; what is left out is the endpoint's default."""

    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1)


Sampled = Literal["patient", "reader"] | JudgeStep
DiagnosisStep = Literal["cover_items", "grade_diagnoses"]
ScoredOn = Literal["reader", "emitted"]


class Protocol(Config):
    """The rules of measurement; every field is part of the fingerprint.

    `diagnosis_step` is what a judge is asked of the diagnoses: whether they are covered, or in which degree they are the
    same. `scored_on` is the condition of the headline scores: the readers', or the policy's own diagnosis.
    """

    name: Literal["meddc-1.0", "trustmed-1.0"] = "meddc-1.0"
    weights: Weights = Weights()
    view: Literal["cut", "mask", "full"] = "cut"
    volunteered: Literal["unmatched", "all", "off"] = "unmatched"
    empty_on_failure: bool = False
    top_k: int = Field(5, ge=1, le=50)
    max_turn_chars: int = Field(4000, ge=100)
    diagnosis_step: DiagnosisStep = Field("cover_items", exclude_if=lambda step: step == "cover_items")
    scored_on: ScoredOn = Field("reader", exclude_if=lambda condition: condition == "reader")
    decoding: dict[Sampled, Sampling] = {}

    def sampling(self, step: Sampled) -> Decoding:
        """Return the decoding of a role or judge step; the policy brings its own."""
        return Decoding(**self.decoding[step].model_dump()) if step in self.decoding else Decoding()


class RoleSpec(Config):
    """A plugin by name with its options."""

    name: str
    options: dict[str, Any] = {}


def named(given: Any) -> Any:
    """Read a name alone as the plugin of that name without options."""
    return {"name": given} if isinstance(given, str) else given


class Instrument(Config):
    """The measuring side of a run: patient, readers and judge."""

    patient: RoleSpec
    readers: tuple[RoleSpec, ...]
    judge: RoleSpec


class Locked(Config):
    """A named instrument under one condition: digests of the metrics' fingerprints and of the parts they share."""

    metrics: dict[str, str]
    parts: dict[str, str]


class InstrumentLock(Config):
    """The fingerprints of a task's named instruments, by instrument and condition."""

    format: Literal[1]
    task: str
    instruments: dict[str, dict[str, Locked]]


class TaskFile(Config):
    """What `task.yaml` may hold. Of a `private` task no case text, case id or per-case count leaves a run."""

    task: str = Field(pattern=NAME)
    title: str = ""
    description: str = ""
    include: str | tuple[str, ...] = ()
    language: str = "zh"
    licence: str = ""
    cases: str | tuple[str, ...] = "cases/*.yaml"
    environment: Annotated[RoleSpec, BeforeValidator(named)] = RoleSpec(name="consultation")
    patient_mode: Literal["auto", "record", "queue"] = "auto"
    protocol: Protocol = Protocol()
    repeats: int = Field(5, ge=1)
    metrics: tuple[str, ...] = ("D", "T", "E", "Total")
    private: bool = False
    templates: str = "meddc"
    instruments: dict[str, Instrument] = {}


class GroupFile(Config):
    """What `group.yaml` may hold."""

    group: str = Field(pattern=NAME)
    title: str = ""
    description: str = ""
    tasks: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Task:
    """A task with its cases, in the order of their ids."""

    config: TaskFile
    cases: tuple[Case, ...]
    path: Path
    sources: Mapping[str, Document] = field(default_factory=dict, repr=False, compare=False)
    media: Mapping[str, Path] = field(default_factory=dict, repr=False, compare=False)
    """The files of the cases' pictures, by the digest of their bytes."""

    @property
    def name(self) -> str:
        return self.config.task

    def mode(self, case: Case) -> str:
        """Return the patient mode of a case: `queue` for dialogue-derived cases, else `record`; the task may fix it."""
        if self.config.patient_mode != "auto":
            return self.config.patient_mode
        return "queue" if case.source == "dialogue" else "record"

    @property
    def cases_digest(self) -> str:
        """Digest of all cases, whatever their order or files."""
        return digest([case.model_dump(mode="json") for case in self.cases])


@dataclass(frozen=True, slots=True)
class Listing:
    """A line of `ls tasks`: what a task or group file says of itself, cases not loaded."""

    name: str
    kind: Literal["task", "group"]
    title: str
    path: Path


class TaskIndex:
    """Finds tasks by name in the folders given (first), those of plugins, and the shipped one."""

    def __init__(self, include: Iterable[Path] = (), plugins: Iterable[Path] = ()):
        self.listings: dict[str, Listing] = {}
        self.broken: list[InputError] = []
        self._hiding: dict[str, InputError] = {}
        for root in (*include, *plugins, shipped("tasks")):
            if not root.is_dir():
                raise UsageError(f"--include-path {root}: there is no such folder")
            files = [root / "task.yaml", root / "group.yaml", *root.glob("*/task.yaml"), *root.glob("*/group.yaml")]
            for file in sorted(files):
                if file.is_file():
                    self._add(file)

    def _add(self, file: Path) -> None:
        try:
            listing = _head(file)
        except InputError as error:
            self.broken.append(error)
            folder = file.parent.name
            if folder not in self.listings:  # a task of this name that comes later must not stand in for it
                self._hiding.setdefault(folder, error)
            return
        other = self.listings.get(listing.name)
        if other is not None and other.path.resolve() != listing.path.resolve():
            self.broken.append(InputError(f"the name {listing.name!r} is already taken by {other.path}", path=file))
        else:
            self.listings[listing.name] = listing

    def resolve(self, wanted: str) -> list[Task]:
        """Load the task or the group of tasks of a name or of a path to its file or folder.

        A name that is known comes before a folder of that name.
        """
        known = wanted in self._hiding or wanted in self.listings
        folder = bool(wanted) and not known and os.path.isdir(wanted)  # noqa: PTH112 - of a name too long it says no
        path = _as_path(f"{wanted}/" if folder else wanted)
        if path is not None:
            listing = _head(path)
        elif wanted in self._hiding:
            raise self._hiding[wanted]
        elif wanted in self.listings:
            listing = self.listings[wanted]
        else:
            raise self._unknown(wanted)
        if listing.kind == "task":
            return [load_task(listing.path)]
        document = yamlfile.load(listing.path)
        group = yamlfile.validate(GroupFile, document)
        return [self._member(document, group, index, beside=path is not None) for index in range(len(group.tasks))]

    def _member(self, document: Document, group: GroupFile, index: int, *, beside: bool) -> Task:
        """Load a member of a group: by name, but of a group given by its path first the folder beside it."""
        name = group.tasks[index]
        local = document.path.resolve().parent.parent / name / "task.yaml"
        if local.is_file() and (beside or name not in self.listings):
            return load_task(local)
        if name in self.listings and self.listings[name].kind == "group":
            raise document.error(f"group {group.group} names {name!r}, which is a group, not a task", "tasks", index)
        if name in self.listings or name in self._hiding:
            return self.resolve(name)[0]
        hint = suggest(name, [one.name for one in self.listings.values() if one.kind == "task"])
        raise document.error(f"group {group.group} names an unknown task {name!r}; {hint}", "tasks", index)

    def _unknown(self, wanted: str) -> UsageError:
        error_text = "".join(f"\n  cannot be loaded: {error}" for error in self.broken)
        return UsageError(f"no task is named {wanted!r}; {suggest(wanted, self.listings)}{error_text}")


def load_task(path: Path) -> Task:
    """Load one task file with its includes and its cases.

    Raises:
        InputError: any fault of a file, with file, line and key.
    """
    document = _with_includes(path, ())
    config = yamlfile.validate(TaskFile, document)
    cases: dict[str, Case] = {}
    sources: dict[str, Document] = {}
    pictures: dict[str, Path] = {}
    for case_document in _case_documents(document, config):
        filled = Document(osce.with_facts(case_document.data), case_document.path, case_document.marks)
        case = yamlfile.validate(Case, filled)
        _check_ids(case, case_document)
        _check_workup(case, case_document)
        pictures.update(_pictures(case, case_document, path.parent))
        if case.id in cases:
            raise case_document.error(f"case {case.id!r} is also in {sources[case.id].path}", "id")
        if case.language != config.language:
            raise case_document.error(f"language is {case.language!r}, the task's is {config.language!r}", "language")
        cases[case.id], sources[case.id] = case, case_document
    if not cases:
        raise document.error("no case file matches", "cases")
    return Task(config, tuple(cases[one] for one in sorted(cases)), path, sources, pictures)


def task_document(path: Path) -> Document:
    """Read a task file with its includes once more, for an error that points into it."""
    return _with_includes(path, ())


def load_lock(folder: Path) -> InstrumentLock | None:
    """Read the lock beside a task file; None where there is none.

    Raises:
        InputError: it is no lock.
    """
    path = folder / LOCK
    if not path.is_file():
        return None
    try:
        return InstrumentLock.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        how = "write it again: meddc-bench leaderboard lock TASK"
        raise InputError(f"is no lock of instruments ({type(error).__name__}); {how}", path=path) from error


def _head(file: Path) -> Listing:
    document = yamlfile.load(file)
    data = document.data
    if not isinstance(data, dict):
        raise InputError("expected keys and values (task: NAME ...)", path=file, line=1)
    kind: Literal["task", "group"] = "group" if "group" in data else "task"
    name = data.get(kind)
    if not isinstance(name, str):
        raise document.error("expected `task: NAME` or `group: NAME`", kind)
    title = data.get("title")
    return Listing(name, kind, title if isinstance(title, str) else "", file)


def _as_path(wanted: str) -> Path | None:
    path = Path(wanted)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise UsageError(f"task file {wanted}: there is no such file")
        return path
    if "/" in wanted or "\\" in wanted:
        for name in ("task.yaml", "group.yaml"):
            if (path / name).is_file():
                return path / name
        raise UsageError(f"{wanted}: there is no task.yaml or group.yaml in that folder")
    return None


def _with_includes(path: Path, chain: tuple[Path, ...]) -> Document:
    if path.resolve() in chain:
        names = " -> ".join(str(one) for one in (*chain, path.resolve()))
        raise InputError(f"includes itself: {names}", path=path, key="include")
    document = yamlfile.load(path)
    if not isinstance(document.data, dict):
        raise InputError("expected keys and values", path=path, line=1)
    named = document.data.get("include", [])
    data: dict[str, Any] = {}
    marks: dict[yamlfile.Loc, tuple[Path, int]] = {}
    for name in named if isinstance(named, list) else [named]:
        if not isinstance(name, str):
            raise document.error("expected the name of a file, or a list of names", "include")
        target = next((one for one in (path.parent / name, shipped("tasks") / name) if one.is_file()), None)
        if target is None:
            where = "beside this file, nor among the shipped tasks (such as meddc/protocol.yaml)"
            raise document.error(f"{name}: there is no such file {where}", "include")
        base = _with_includes(target, (*chain, path.resolve()))
        data = _merge(data, base.data)
        marks.update(base.marks)
    marks.update(document.marks)
    own = {key: value for key, value in document.data.items() if key != "include"}
    return Document(_merge(data, own), path, marks)


def _merge(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _merge(below.get(key), value) for key, value in above.items()}}
    return above


def _case_documents(document: Document, config: TaskFile) -> Iterable[Document]:
    patterns = [config.cases] if isinstance(config.cases, str) else config.cases
    root = document.path.parent
    for pattern in patterns:
        if not Path(pattern).parts or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise document.error(f"{pattern!r}: expected a pattern below the task's folder", "cases")
    files = {file for pattern in patterns for file in root.glob(pattern) if file.is_file()}
    for file in sorted(files):
        if file.suffix == ".jsonl":
            yield from _jsonl(file)
        else:
            yield yamlfile.load(file)


def _jsonl(file: Path) -> Iterable[Document]:
    for number, line in enumerate(yamlfile.read_text(file).split("\n"), 1):  # splitlines also splits inside texts
        if line.strip():
            try:
                data = json.loads(line, object_pairs_hook=yamlfile.no_key_twice)
            except ValueError as error:
                raise InputError(f"is not valid JSON: {error}", path=file, line=number) from error
            except RecursionError:
                raise InputError("is nested too deep", path=file, line=number) from None
            yield Document(data, file, {(): (file, number)})


def _check_ids(case: Case, document: Document) -> None:
    facts = [fact.id for fact in case.facts]
    for key, ids in (("facts", facts), ("targets", [target.id for target in case.targets])):
        for index, one in enumerate(ids):
            if one in ids[:index]:
                raise document.error(f"id {one!r} is there twice", key, index, "id")
    for index, target in enumerate(case.targets):
        for fact in target.facts:
            if fact not in facts:
                raise document.error(f"target {target.id} names an unknown fact {fact!r}", "targets", index, "facts")


def _check_workup(case: Case, document: Document) -> None:
    """Check the workup of a case, if it has one; the first fault is raised, the others are in its notes."""
    if case.workup is None:
        return
    if [one.id for one in case.facts] != [one.id for one in case.workup.actor.facts]:
        raise document.error("a case with a workup has its actor's facts: leave this key out", "facts")
    names = [name for one in case.diagnoses for name in (one.name, *one.synonyms)]
    errors = [document.error(one.message, "workup", *one.loc) for one in osce.faults(case.workup, names)]
    for other in errors[1:]:
        errors[0].add_note(str(other))
    if errors:
        raise errors[0]


def _pictures(case: Case, document: Document, folder: Path) -> Iterator[tuple[str, Path]]:
    """Check the pictures of a case, and say where they are, by the digests of their bytes."""
    for index, panel in enumerate(case.workup.profile if case.workup else ()):
        if panel.picture is None:
            continue
        loc = ("workup", "profile", index, "picture")
        path = folder / panel.picture.file
        if Path(panel.picture.file).is_absolute() or ".." in Path(panel.picture.file).parts:
            raise document.error(f"{panel.picture.file!r}: expected a file below the task's folder", *loc, "file")
        try:
            media.read(path, panel.picture.sha256)
        except InputError as error:
            raise document.error(f"case {case.id}, record {panel.id}: {path}: {error.message}", *loc) from None
        yield panel.picture.sha256, path
