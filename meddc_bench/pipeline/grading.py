"""Graded matching: predictions and references whose pairs have levels become a one-to-one matching of largest weight. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from meddc_bench.records import CREDIT, Level

_HUNDREDTHS: Mapping[str, int] = {level: round(100 * credit) for level, credit in CREDIT.items()}


def graded_matching(levels: Mapping[tuple[int, int], Level]) -> dict[int, int]:
    """Match predictions to references, one to one, with the largest total credit: full 1, core 0.85, partial 0.5.

    Of several matchings of equal credit the one with more full pairs is taken, then the one with more core pairs; of
    those that are left, the one that gives reference 0 the earliest prediction, then reference 1, and so on (a reference
    without a prediction comes last). So neither the order of `levels` nor the solver decides anything. The arithmetic is
    exact: credits are counted in hundredths.

    Args:
        levels: (prediction, reference) -> level; a pair that is not there has none.

    Returns:
        Reference index -> prediction index. Source: TrustMed-RL section 7.1, Table 10.

    >>> graded_matching({(0, 0): "full", (0, 1): "core", (1, 0): "core"})
    {0: 1, 1: 0}
    """
    rows, columns = sorted({row for row, _ in levels}), sorted({column for _, column in levels})
    if len(columns) == 1:  # the usual case: the best prediction, the first of equals
        return {columns[0]: max(rows, key=lambda row: _HUNDREDTHS[levels[row, columns[0]]])}
    worth = np.zeros((len(columns), len(rows)))
    base = float(min(len(rows), len(columns)) + 1)
    for (row, column), level in levels.items():
        value = (_HUNDREDTHS[level] * base + (level == "full")) * base + (level == "core")
        worth[columns.index(column), rows.index(row)] = value
    chosen = _first_of_the_best(worth)
    return {columns[column]: rows[row] for column, row in enumerate(chosen) if row is not None}


def _best(worth: np.ndarray) -> float:
    """Return the largest total worth of a one-to-one matching; exact, since all worths are integers below 2^53."""
    if not worth.size:
        return 0.0
    from scipy.optimize import linear_sum_assignment  # tasks without levels need no SciPy

    return float(worth[linear_sum_assignment(worth, maximize=True)].sum())


def _first_of_the_best(worth: np.ndarray) -> list[int | None]:
    """Return, for each line, the column it takes in the first of the best matchings, in the order of lines and columns."""
    wanted = _best(worth)
    free = list(range(worth.shape[1]))
    chosen: list[int | None] = []
    for line in range(worth.shape[0]):
        below = worth[line + 1 :]
        for column in [one for one in free if worth[line, one]]:
            others = [one for one in free if one != column]
            if worth[line, column] + _best(below[:, others]) == wanted:
                chosen.append(column)
                wanted -= worth[line, column]
                free = others
                break
        else:
            chosen.append(None)
    return chosen
