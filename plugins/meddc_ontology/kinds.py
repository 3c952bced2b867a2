"""What kind of thing a term is: a group of diseases, a disorder, or a subtype of a disorder; and cycles found out.

Where a file does not say, the kind is inferred from the hierarchy and the names: a term with grandchildren is a group; a
term without children whose parent has no grandchildren and whose name holds all the words of the parent's is a subtype
(`pontocerebellar hypoplasia type 6` of `pontocerebellar hypoplasia`, 2型糖尿病 of 糖尿病); any other is a disorder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from meddc_bench.text import squash
from meddc_ontology.terms import Kind

_WORD = re.compile(r"[^\W_]+")


def heights(parents: Sequence[Sequence[int]]) -> list[int] | int:
    """Return the longest way down from each term; in a hierarchy with a cycle, a term of one instead."""
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    waiting = [len(below) for below in children]
    height = [0] * len(parents)
    ready = [term for term, count in enumerate(waiting) if not count]
    for term in ready:
        for parent in parents[term]:
            height[parent] = max(height[parent], height[term] + 1)
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    return height if len(ready) == len(parents) else _on_a_cycle(waiting, children)


def _on_a_cycle(waiting: Sequence[int], children: Sequence[Sequence[int]]) -> int:
    """Walk down among the terms that never became ready until one comes twice."""
    at = next(term for term, count in enumerate(waiting) if count)
    seen: set[int] = set()
    while at not in seen:
        seen.add(at)
        at = next(child for child in children[at] if waiting[child])
    return at


def infer(
    names: Sequence[str], parents: Sequence[Sequence[int]], height: Sequence[int], stated: Sequence[Kind | None]
) -> list[Kind]:
    """Return the kind of each term: the one stated, else the one inferred."""
    found: list[Kind] = []
    for term, kind in enumerate(stated):
        if kind is not None:
            found.append(kind)
        elif height[term] > 1:
            found.append("group")
        elif not height[term] and any(
            height[one] == 1 and stated[one] in (None, "disorder") and within(names[one], names[term])
            for one in parents[term]
        ):
            found.append("subtype")
        else:
            found.append("disorder")
    return found


def within(part: str, whole: str) -> bool:
    """Tell whether a name holds another with something added: all of its words, or in Chinese its characters in a row.

    >>> within("diabetes mellitus", "type 2 diabetes mellitus"), within("糖尿病", "2型糖尿病"), within("asthma", "Asthma")
    (True, True, False)
    """
    short, long = squash(part), squash(whole)
    if not short or short == long:
        return False
    if not part.isascii():
        return short in long
    return set(_WORD.findall(part.lower())) <= set(_WORD.findall(whole.lower()))
