"""Gates: conditions on an audit that a script can rely on, such as `reversals<=0`.

    gate    := "supported" | name operator number
    name    := reversals | tau | shift | contradicted | undecided | left_out
    operator := <= | < | >= | > | ==

A gate holds when it holds for every task, metric and instrument that was audited. What could not be measured holds nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from meddc_bench.audits.records import MetricAudit, Report
from meddc_bench.errors import UsageError, suggest

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq,
}  # fmt: skip
NAMES = ("reversals", "tau", "shift", "contradicted", "undecided", "left_out")
SUPPORTED = "supported"

_GATE = re.compile(r"\s*([a-z_]+)\s*(<=|>=|==|<|>)\s*(-?\d+(?:\.\d+)?)\s*")
_ROUNDING = 9
"""Decimals that are compared: what is beyond them is rounding."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition: `name` `operator` `number`; for `supported` the number of pairs that are not is to be 0."""

    text: str
    name: str
    operator: str
    number: float


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a gate held, and where it did not."""

    gate: str
    holds: bool
    failures: tuple[str, ...]


def parse_gate(text: str) -> Gate:
    """Read one gate.

    Raises:
        UsageError: it is none; says what is.

    >>> parse_gate("shift <= 5")
    Gate(text='shift <= 5', name='shift', operator='<=', number=5.0)
    """
    if text.strip() == SUPPORTED:
        return Gate(text, SUPPORTED, "==", 0)
    found = _GATE.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--gate {text!r}: expected `supported`, or one of {', '.join(NAMES)} with <=, <, >=, > or == and a number, "
            f"such as reversals<=0"
        )
    name, sign, number = found.groups()
    if name not in NAMES:
        raise UsageError(f"--gate {text!r}: {name} cannot be asked for; {suggest(name, (*NAMES, SUPPORTED))}")
    return Gate(text, name, sign, float(number))


def check(gates: Sequence[Gate], report: Report) -> tuple[Checked, ...]:
    """Check gates on an audit."""
    return tuple(_checked(gate, report) for gate in gates)


def _checked(gate: Gate, report: Report) -> Checked:
    failures = [
        f"{audit.task} {audit.metric}: {where}"
        for audit in report.audits for where, value in _values(gate.name, audit)
        if value is None or not OPERATORS[gate.operator](round(value, _ROUNDING), gate.number)
    ]  # fmt: skip
    return Checked(gate.text, not failures, tuple(failures))


def _values(name: str, audit: MetricAudit) -> Iterator[tuple[str, float | None]]:
    """Yield what a gate is about, with words for where it is; None where it is not known."""
    found = audit.found
    if name == "left_out":
        yield f"left_out = {len(audit.left_out)}", float(len(audit.left_out))
    elif found is None:
        yield f"not measured: {audit.reason}", None
    elif audit.unmeasured:
        yield f"not measured: {audit.unmeasured[0].policy} / {audit.unmeasured[0].under}", None
    elif name == "shift":
        scale = 100 if found.unit == "proportion" else 1
        for one in found.shifts:
            yield f"|shift| = {abs(one.value) * scale:.4g} ({one.policy} / {one.reader})", abs(one.value) * scale
    elif not found.orderings:
        yield "there is no pair of policies", None
    elif name == "reversals":
        for pair in found.comparisons:
            yield f"reversals = {pair.reversals.count} of {pair.reversals.pairs} ({pair.reader})", pair.reversals.count
    elif name == "tau":
        for pair in found.comparisons:
            tau = pair.kendall.tau
            words = "none" if tau is None else f"{tau:.4g}"
            yield f"tau = {words} ({pair.reader})", tau
    else:
        wanted = ("undecided", "contradicted") if name == SUPPORTED else (name,)
        count = sum(one.verdict in wanted for one in found.orderings)
        yield f"{' or '.join(wanted)} = {count} of {len(found.orderings)}", float(count)
