"""Variance: what share of the spread of a score is due to policy, reader, their interaction, and repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from meddc_bench.analysis.series import Array
from meddc_bench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Source:
    """One source of variation.

    `sum_of_squares` and `component` are in squared units of the score; `share` is the proportion of the total sum of
    squares. `component` is the estimated variance of the source in a larger population of policies, readers and
    repeats, at least 0; None where it cannot be told apart.
    """

    name: str
    sum_of_squares: float
    degrees: int
    share: float | None
    component: float | None


@dataclass(frozen=True, slots=True)
class Variance:
    """Two-way decomposition over policies and readers; the shares of its sources add up to 1.

    Without repeats, `interaction` holds the noise of single runs as well (`reason` says so).
    """

    policy: Source | None
    reader: Source | None
    interaction: Source | None
    repeat: Source | None
    residual: Source | None
    policies: int
    readers: int
    repeats: int
    reason: str | None = None


def variance(scores: ArrayLike) -> Variance:
    """Decompose scores (policies, readers) or (policies, readers, repeats); repeat k of a policy is one set of histories.

    Formula: sums of squares about the means, y = scores of P policies, R readers, K repeats:
    policy RK sum (y_p - y)^2; reader PK sum (y_r - y)^2; interaction K sum (y_pr - y_p - y_r + y)^2; repeat, within
    policies, R sum (y_pk - y_p)^2; residual the rest. They add up to the total. Components from expected mean squares:
    residual e = MS_e; repeat (MS_k - e)/R; interaction (MS_pr - e)/K; policy (MS_p - MS_pr - MS_k + e)/(RK); reader
    (MS_r - MS_pr)/(PK); negative ones are set to 0. Without repeats: interaction MS_pr (with the noise), policy
    (MS_p - MS_pr)/R, reader (MS_r - MS_pr)/P.

    Unit: as the scores, squared; shares are proportions from 0 to 1.

    Degenerate: fewer than two policies or readers, or no variation at all: no source, with the reason.

    Raises:
        UsageError: another number of axes, or a score that is not finite (a missing cell is no 0).

    Source: not in the paper. Partially nested design, readers x (repeats : policies): Brennan, Generalizability Theory
    (2001), chapter 3.

    >>> found = variance([[1.0, 2.0], [3.0, 4.0]])
    >>> found.policy.share, found.reader.share, found.interaction.share
    (0.8, 0.2, 0.0)
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim not in (2, 3):
        raise UsageError(f"scores must be (policies, readers) or (policies, readers, repeats), got {values.shape}")
    if not np.isfinite(values).all():
        raise UsageError("scores must be finite: leave out the policies that some reader could not score")
    values = values if values.ndim == 3 else values[:, :, None]
    policies, readers, repeats = values.shape
    if min(policies, readers) < 2 or not repeats:
        return _none(values, f"two policies and two readers are needed, got {policies} and {readers}")
    squares, degrees = _sums_of_squares(values)
    total = sum(squares.values())
    if total <= values.size * (1e-12 * max(1.0, float(np.abs(values).max()))) ** 2:
        return _none(values, "all scores are equal: there is no variance to share out")
    components = _components(squares, degrees, policies, readers, repeats)
    found = {
        name: Source(name, squares[name], degrees[name], squares[name] / total, components[name]) for name in squares
    }
    return Variance(
        found["policy"], found["reader"], found["interaction"], found.get("repeat"), found.get("residual"),
        policies, readers, repeats,
        None if repeats > 1 else "one repeat: the interaction holds the noise of single runs as well",
    )  # fmt: skip


def _sums_of_squares(values: Array) -> tuple[dict[str, float], dict[str, int]]:
    policies, readers, repeats = values.shape
    values = values - values.mean()
    by_policy, by_reader = values.mean(axis=(1, 2)), values.mean(axis=(0, 2))
    cells, sets = values.mean(axis=2), values.mean(axis=1)
    within = sets - by_policy[:, None]
    apart = cells - by_policy[:, None] - by_reader[None, :]
    squares = {
        "policy": readers * repeats * float((by_policy**2).sum()),
        "reader": policies * repeats * float((by_reader**2).sum()),
        "interaction": repeats * float((apart**2).sum()),
    }
    degrees = {"policy": policies - 1, "reader": readers - 1, "interaction": (policies - 1) * (readers - 1)}
    if repeats > 1:
        rest = values - cells[:, :, None] - within[:, None, :]
        squares |= {"repeat": readers * float((within**2).sum()), "residual": float((rest**2).sum())}
        degrees |= {"repeat": policies * (repeats - 1), "residual": policies * (readers - 1) * (repeats - 1)}
    return squares, degrees


def _components(
    squares: dict[str, float], degrees: dict[str, int], policies: int, readers: int, repeats: int
) -> dict[str, float]:
    mean = {name: squares[name] / degrees[name] for name in squares}
    noise, sets = mean.get("residual", 0.0), mean.get("repeat", 0.0)
    found = {
        "policy": (mean["policy"] - mean["interaction"] - sets + noise) / (readers * repeats),
        "reader": (mean["reader"] - mean["interaction"]) / (policies * repeats),
        "interaction": (mean["interaction"] - noise) / repeats,
    }
    if repeats > 1:
        found |= {"repeat": (sets - noise) / readers, "residual": noise}
    return {name: max(0.0, value) for name, value in found.items()}


def _none(values: Array, reason: str) -> Variance:
    policies, readers, repeats = values.shape
    return Variance(None, None, None, None, None, policies, readers, repeats, reason)
