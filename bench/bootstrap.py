"""The bootstrap of a leaderboard: time against the matrix product it needs and against SciPy, and peak memory.

    python bench/bootstrap.py [--draws 10000] [--repeats 9] [--check]

8 policies x 5 runs x 170 cases, 10,000 draws: intervals of D, T, E and Total and of all 28 paired differences of each.

product    draw counts @ statistics with BLAS, in the faster layout: what any way of doing it must pay
ours       meddc_bench.analysis.bootstrap.bootstrap on the same series
scipy      scipy.stats.bootstrap of case numbers with one vectorised statistic for all of it, percentile intervals

CPU time on one thread, so that the ratios mean the same everywhere; the three take turns, and medians are shown. With --check the
exit code is 1 where ours takes more than 6 products, is less than 8 times as fast as SciPy, or needs more than 64 MB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from meddc_bench.analysis.bootstrap import Bootstrap, bootstrap
from meddc_bench.analysis.resample import draw_counts
from meddc_bench.analysis.series import Array, Series, Sums
from meddc_bench.analysis.totals import WEIGHTS, weighted

POLICIES, RUNS, CASES = 8, 5, 170
PAIRS = np.array(list(combinations(range(POLICIES), 2)))
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
LIMITS = {"products": 6.0, "scipy": 8.0, "megabytes": 64.0}


def f1(sums: Sums) -> Array:
    below = 2 * sums["tp"] + sums["fp"] + sums["fn"]
    return np.divide(2 * sums["tp"], below, out=np.zeros_like(below), where=below != 0)


def mean(sums: Sums) -> Array:
    return np.asarray(sums["sum"] / sums["n"])


def made(seed: int) -> list[Series]:
    """Make series of D, T, E and Total whose policies differ in skill."""
    rng = np.random.default_rng(seed)
    cases, shape = tuple(f"c{n:03}" for n in range(CASES)), (RUNS, CASES)
    references = rng.integers(3, 16, CASES)
    found: list[Series] = []
    for number, skill in enumerate(np.linspace(0.45, 0.75, POLICIES)):
        parts = []
        for metric, factor in (("D", 1.0), ("T", 0.8)):
            tp = rng.binomial(references, factor * skill, shape)
            counts = {"tp": tp, "fp": rng.poisson(2, shape), "fn": references - tp}
            parts.append(Series(f"p{number}", metric, cases, counts, f1))
        timing = {"sum": rng.beta(4, 2, shape), "n": np.ones(shape)}
        parts.append(Series(f"p{number}", "E", cases, timing, mean))
        found += [*parts, weighted(parts, WEIGHTS)]
    return found


def columns(series: list[Series]) -> Array:
    """Return tp, fp, fn of D and T and the sum of E of all policies and runs, (cases, columns): what must be summed."""
    rows = [one.arrays[name] for one in series if one.metric in "DTE" for name in one.arrays if name != "n"]
    return np.ascontiguousarray(np.concatenate(rows).T)


def with_scipy(matrix: Array, draws: int) -> Any:
    """Do the same with scipy.stats.bootstrap."""

    def statistic(index: Array, axis: int) -> Array:
        sums = matrix[index.astype(np.intp)].sum(axis=-2).reshape(*index.shape[:-1], POLICIES, 7, RUNS)
        fn_d, fp_d, tp_d, fn_t, fp_t, tp_t, e = (sums[..., k, :] for k in range(7))
        d, t = (2 * tp / (2 * tp + fp + fn) for tp, fp, fn in ((tp_d, fp_d, fn_d), (tp_t, fp_t, fn_t)))
        e = e / CASES
        scores = np.stack([one.mean(axis=-1) for one in (d, t, e, 0.5 * d + 0.4 * t + 0.1 * e)], axis=-2)
        gaps = scores[..., PAIRS[:, 0]] - scores[..., PAIRS[:, 1]]
        found = np.concatenate([scores, gaps], axis=-1)
        return np.moveaxis(found.reshape(*found.shape[:-2], -1), -1, 0)

    return stats.bootstrap(
        (np.arange(CASES),), statistic, n_resamples=draws, batch=50, vectorized=True, method="percentile", axis=-1,
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip


def agree(found: Bootstrap, other: Any) -> float:
    """Return the largest gap between the bounds of the two: both must have computed the same thing."""
    low = np.asarray(other.low).reshape(4, -1)
    gaps = []
    for row, metric in enumerate("DTE"):
        bounds = [one.interval.low for one in (*found.estimates, *found.differences) if one.metric == metric]
        gaps.append(np.abs(np.array(bounds, dtype=float) - low[row]).max())
    return float(max(gaps))


def seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is passed")
    arguments = parser.parse_args()
    series = made(seed=1)
    matrix = columns(series)
    rows = np.ascontiguousarray(matrix.T)
    counts = np.concatenate(list(draw_counts(CASES, arguments.draws, seed=2)))
    ways: dict[str, Callable[[], Any]] = {
        "product": lambda: rows @ counts.T,
        "ours": lambda: bootstrap(series, draws=arguments.draws),
        "scipy": lambda: with_scipy(matrix, arguments.draws),
    }
    print(f"largest gap between the two ways' lower bounds: {agree(ways['ours'](), ways['scipy']()):.4f}")
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.repeats):
        for name, call in ways.items():
            taken[name].append(seconds(call))
    medians = {name: statistics.median(found) for name, found in taken.items()}
    tracemalloc.start()
    ways["ours"]()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    for name, found in medians.items():
        print(f"{name:8} {1000 * found:8.1f} ms")
    products, faster = medians["ours"] / medians["product"], medians["scipy"] / medians["ours"]
    print(f"ours takes {products:.1f} products of {arguments.draws} x {CASES} @ {CASES} x {matrix.shape[1]} (limit 6)")
    print(f"ours is {faster:.1f} times as fast as scipy.stats.bootstrap (limit 8)")
    print(f"peak memory {peak:.1f} MB (limit 64)")
    kept = products <= LIMITS["products"] and faster >= LIMITS["scipy"] and peak <= LIMITS["megabytes"]
    return 0 if kept or not arguments.check else 1


if __name__ == "__main__":
    if any(os.environ.get(name) != "1" for name in ONE_THREAD):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **dict.fromkeys(ONE_THREAD, "1")})
    sys.exit(main())
