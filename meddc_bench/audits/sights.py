"""The columns of runs, sorted into audits: by task, metric and setting, then by instrument and policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from meddc_bench.audits.records import Histories, Over, Question, Setting
from meddc_bench.errors import UsageError, suggest
from meddc_bench.headline import headline
from meddc_bench.plan import TaskBench
from meddc_bench.records import DIMENSIONS
from meddc_bench.results import build_metrics
from meddc_bench.scorer import Row, Scorer
from meddc_bench.stored import StoredColumn, StoredRun, differing

FIXED = ("T", "E")


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A column and the instrument of the audited part it was seen with; `named` where the metric was asked for."""

    run: StoredRun
    column: StoredColumn
    under: str
    setting: Setting
    named: bool

    @property
    def key(self) -> tuple[str, str, Setting]:
        return self.column.task, self.column.metric, self.setting


class Group:
    """The columns of one audit, by instrument and policy."""

    def __init__(self, over: Over) -> None:
        self._over = over
        self.named = False
        self.columns: dict[str, dict[str, StoredColumn]] = {}
        self._first: dict[str, StoredColumn] = {}
        self._runs: dict[tuple[str, str], StoredRun] = {}

    def add(self, sight: Sight) -> None:
        """Add a column; the same column of another run counts once, another one under the same labels is refused."""
        column, under = sight.column, sight.under
        first = self._first.setdefault(under, column)
        if first.fingerprint["digest"] != column.fingerprint["digest"]:
            parts = differing(first.fingerprint["parts"], column.fingerprint["parts"])
            listed = "; ".join(f"{part.name} ({part.words})" for part in parts)
            raise UsageError(
                f"{column.task}: two different {self._over}s are labelled {under!r}; they differ in {listed}"
            )
        policy = column.row.policy.label
        self.columns.setdefault(under, {}).setdefault(policy, column)
        if self._runs.setdefault((under, policy), sight.run) is not sight.run and self._over == "patient":
            raise UsageError(f"{column.task}: two of the runs hold histories of {policy} with patient {under}")
        self.named = self.named or sight.named

    def differs(self, base: str) -> tuple[str, ...]:
        """Name the parts in which the instruments differ.

        Raises:
            UsageError: they differ in more than the audited one; all are listed.
        """
        found: dict[str, str] = {}
        start = self._first[base].fingerprint["parts"]
        for column in self._first.values():
            parts = column.fingerprint["parts"]
            for part in differing(start, parts):
                follows = part.name == "view" and self._over == "reader" and not {"view"} <= parts.keys() & start.keys()
                if not follows:  # emitted has no view: that is part of being another reader
                    found.setdefault(part.name, part.words)
        if found.keys() - {self._over}:
            column = self._first[base]
            listed = "; ".join(f"{name} ({words})" for name, words in sorted(found.items()))
            raise UsageError(
                f"{column.task}, {column.metric}: an audit over {self._over}s needs everything else to be the same, but "
                f"these differ: {listed}"
            )
        return tuple(sorted(found))


def sights(run: StoredRun, bench: TaskBench, scorer: Scorer, question: Question) -> Iterator[Sight]:
    over = question.over
    needs = {name: frozenset(metric.needs) for name, (_, metric) in build_metrics(bench, run.registry).items()}
    metrics = _metrics(bench, needs, question)
    fixed = [one for one in FIXED if "Total" in metrics and one in needs and one not in metrics]
    judged_once = {name for name in metrics if needs[name] & set(DIMENSIONS)}
    for column in run.columns(bench, (*metrics, *fixed), lambda row: _wanted(row, question), scorer):
        row, name = column.row, column.metric
        read = "reader" in column.fingerprint["parts"]
        if name in judged_once and row.condition.label != "emitted":
            continue
        judge = row.judge.label if bench.asks == 1 else f"{row.judge.label}#{row.ask + 1}"
        own: dict[Over, str] = {
            "reader": row.condition.label, "judge": judge, "patient": row.patient.label,
            "view": bench.task.config.protocol.view,
        }  # fmt: skip
        setting = Setting(
            None if over == "patient" else row.patient.label,
            row.condition.label if read and over != "reader" else None, None if over == "judge" else judge,
        )  # fmt: skip
        yield Sight(run, column, own[over], setting, question.metrics is not None and name in question.metrics)


def _wanted(row: Row, question: Question) -> bool:
    """Tell whether a row is audited."""
    if row.policy.label in question.without or not _reads(row.condition.label, question):
        return False
    own = {"judge": row.judge.label, "patient": row.patient.label}.get(question.over)
    return question.labels is None or own is None or own in question.labels


def _reads(reader: str, question: Question) -> bool:
    """Tell whether a reader is audited; what the policy emitted has no view."""
    if question.over == "view" and reader == "emitted":
        return False
    named = question.labels if question.over == "reader" else question.readers
    return named is None or reader in named


def _metrics(bench: TaskBench, needs: Mapping[str, frozenset[str]], question: Question) -> list[str]:
    if question.metrics is None:
        found = [
            name for name in headline(needs) if question.over in ("judge", "patient") or "diagnosis" in needs[name]
        ]
        if not found:
            raise UsageError(f"{bench.task.name}: name a metric with --metric; there is: {', '.join(needs)}")
        return found
    for name in question.metrics:
        if name not in needs:
            raise UsageError(f"{bench.task.name} has no metric {name!r}; {suggest(name, needs)}")
        if question.over in ("reader", "view") and not needs[name] & {"diagnosis"}:
            raise UsageError(
                f"{name} has no reader: it is the same whoever reads the history; audit "
                f"{' or '.join(one for one in headline(needs) if 'diagnosis' in needs[one])}, or over judges"
            )
    return list(question.metrics)


def histories(benches: Sequence[tuple[StoredRun, TaskBench, Scorer]], question: Question) -> tuple[Histories, ...]:
    """Check the readings of every run against the histories, and the histories of a policy against each other."""
    found: dict[str, Histories] = {}
    for run, bench, scorer in benches:
        audited = [condition for condition in bench.conditions if _reads(condition.label, question)]
        seen, name = run.same_bytes(bench, audited, scorer), bench.task.name
        before = found.get(name, Histories(name, {}, 0, 0))
        digests = {policy: one for policy, one in seen.histories.items() if policy not in question.without}
        other = sorted(one for one in digests if before.digests.get(one, digests[one]) != digests[one])
        if other and question.over != "patient":
            raise UsageError(
                f"{name}: the runs hold different histories of {', '.join(other)}: there is nothing to audit"
            )
        found[name] = Histories(
            name, {**before.digests, **digests}, before.checked + seen.checked, before.mismatched + seen.mismatched
        )
    return tuple(found.values())
