"""One-to-one matching against brute force, and what must not change it: order, names, repetition, paraphrase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from meddc_bench.pipeline.match import assign, maximum_matching
from meddc_bench.records import Assignment, Edge, Evidence, Item

Pairs = frozenset[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn, size: int = 5) -> tuple[list[int | None], int, list[tuple[int, int]]]:
    """Rounds of the questions (None: not placed), number of targets, candidate edges."""
    rounds = draw(st.lists(st.none() | st.integers(1, 6), max_size=size))
    targets = draw(st.integers(0, size))
    possible = [(one, other) for one in range(len(rounds)) for other in range(targets)]
    edges = draw(st.lists(st.sampled_from(possible), max_size=14)) if possible else []
    return rounds, targets, edges


def evidence(
    rounds: Sequence[int | None], targets: int, edges: Sequence[tuple[int, int]], axis: Any = "trajectory", **more: Any
) -> Evidence:
    return Evidence(
        axis=axis,
        items=tuple(Item(id=f"p{index}", text="问", round=at) for index, at in enumerate(rounds)),
        references=tuple(f"g{index}" for index in range(targets)),
        edges=tuple(Edge(prediction=f"p{one}", reference=f"g{other}") for one, other in edges),
        **more,
    )


def matchings(usable: Sequence[tuple[int, int]]) -> Iterator[Pairs]:
    """Every one-to-one choice of edges."""
    if not usable:
        yield frozenset()
        return
    (one, other), rest = usable[0], usable[1:]
    yield from matchings(rest)
    for chosen in matchings([edge for edge in rest if edge[0] != one and edge[1] != other]):
        yield chosen | {(one, other)}


def counts(found: Assignment) -> tuple[Any, ...]:
    return found.tp, found.fp, found.fn, found.matched_rounds


@given(graphs())
def test_no_question_is_credited_twice_and_no_target_is_found_twice(graph: Any) -> None:
    found = assign(evidence(*graph))
    predictions = [pair.prediction for pair in found.pairs]
    references = [pair.reference for pair in found.pairs]
    assert len(set(predictions)) == len(predictions) == len(set(references)) == found.tp
    assert {(pair.prediction, pair.reference) for pair in found.pairs} <= {(f"p{a}", f"g{b}") for a, b in graph[2]}
    assert (found.tp + found.fp, found.tp + found.fn) == (len(graph[0]), graph[1])
    assert set(found.unmatched_predictions) == {f"p{n}" for n in range(len(graph[0]))} - set(predictions)
    assert set(found.unmatched_references) == {f"g{n}" for n in range(graph[1])} - set(references)


@given(graphs())
def test_no_other_choice_would_credit_more_targets_or_earlier_rounds(graph: Any) -> None:
    rounds, _, edges = graph
    usable = sorted({edge for edge in edges if rounds[edge[0]] is not None})
    every = list(matchings(usable))
    most = max(len(one) for one in every)
    best = min(sorted(rounds[one] for one, _ in chosen) for chosen in every if len(chosen) == most)
    found = assign(evidence(*graph))
    assert found.tp == most
    assert list(found.matched_rounds) == best


@given(graphs(), st.data())
def test_the_order_in_which_a_judge_lists_edges_changes_nothing(graph: Any, data: st.DataObject) -> None:
    rounds, targets, edges = graph
    assert assign(evidence(rounds, targets, data.draw(st.permutations(edges)))).pairs == assign(evidence(*graph)).pairs


@given(graphs(), st.data())
def test_the_order_of_questions_and_targets_changes_no_count_and_no_round(graph: Any, data: st.DataObject) -> None:
    rounds, targets, edges = graph
    rows = data.draw(st.permutations(range(len(rounds))))
    columns = data.draw(st.permutations(range(targets)))
    moved = [(rows.index(one), columns.index(other)) for one, other in edges]
    assert counts(assign(evidence([rounds[row] for row in rows], targets, moved))) == counts(assign(evidence(*graph)))


@given(graphs(), st.permutations("一二三四五六七八九十"))
def test_the_ids_of_questions_and_targets_change_nothing(graph: Any, names: list[str]) -> None:
    plain = evidence(*graph)
    new = dict(zip([item.id for item in plain.items] + list(plain.references), names, strict=False))
    renamed = Evidence(
        axis="trajectory",
        items=tuple(Item(id=new[item.id], text=item.text, round=item.round) for item in plain.items),
        references=tuple(new[one] for one in plain.references),
        edges=tuple(Edge(prediction=new[one.prediction], reference=new[one.reference]) for one in plain.edges),
    )
    wanted = [(new[pair.prediction], new[pair.reference], pair.round) for pair in assign(plain).pairs]
    assert [(pair.prediction, pair.reference, pair.round) for pair in assign(renamed).pairs] == wanted


@given(graphs(), st.integers(1, 3))
def test_an_edge_named_again_adds_no_credit(graph: Any, times: int) -> None:
    rounds, targets, edges = graph
    again, once = assign(evidence(rounds, targets, edges * (1 + times))), assign(evidence(*graph))
    assert (again.pairs, again.fp, again.fn) == (once.pairs, once.fp, once.fn)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3)), min_size=1, max_size=8), st.data())
def test_asking_the_same_thing_in_other_words_adds_no_credit(asked: list[tuple[int, int]], data: st.DataObject) -> None:
    again = asked + data.draw(st.lists(st.sampled_from(asked), min_size=1, max_size=4))
    once = assign(evidence([at for at, _ in asked], 4, [(n, need) for n, (_, need) in enumerate(asked)]))
    more = assign(evidence([at for at, _ in again], 4, [(n, need) for n, (_, need) in enumerate(again)]))
    assert (more.tp, more.matched_rounds, more.fn) == (once.tp, once.matched_rounds, once.fn)
    assert more.fp == once.fp + len(again) - len(asked)


@given(graphs(), st.integers(1, 7))
def test_nothing_asked_in_or_after_the_summary_round_counts_for_or_against(graph: Any, summary: int) -> None:
    rounds, targets, edges = graph
    kept = [index for index, at in enumerate(rounds) if at is None or at < summary]
    early = [(kept.index(one), other) for one, other in edges if one in kept]
    found = assign(evidence(*graph), summary)
    assert counts(found) == counts(assign(evidence([rounds[index] for index in kept], targets, early)))
    assert set(found.dropped) == {f"p{index}" for index in range(len(rounds)) if index not in kept}


@given(graphs(), st.sets(st.integers(0, 4)))
def test_a_volunteered_target_is_neither_found_nor_missed(graph: Any, gone: set[int]) -> None:
    rounds, targets, edges = graph
    left = [index for index in range(targets) if index not in gone]
    without = evidence(rounds, len(left), [(one, left.index(other)) for one, other in edges if other in left])
    found = assign(evidence(rounds, targets, edges, volunteered=tuple(f"g{index}" for index in sorted(gone))))
    assert counts(found) == counts(assign(without))


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 6), unique=True, max_size=7), max_size=7), st.randoms(use_true_random=False))
def test_an_earlier_question_is_never_given_up_for_a_later_one(edges: list[list[int]], random: Any) -> None:
    order = list(range(len(edges)))
    random.shuffle(order)
    before: set[int] = set()
    for length in range(len(order) + 1):
        now = set(maximum_matching(edges, order[:length]).values())
        assert before <= now
        before = now


def test_a_long_chain_of_reassignments_is_followed_to_its_end() -> None:
    size = 3000
    edges = [[index, index + 1] for index in range(size)] + [[0]]
    assert len(maximum_matching(edges, range(size + 1))) == size + 1


def test_every_edge_that_does_not_count_says_why() -> None:
    given_ = Evidence(
        axis="trajectory",
        items=(Item(id="early", text="问", round=1), Item(id="late", text="问", round=5), Item(id="lost", text="问")),
        references=("g", "said"),
        edges=(
            Edge(prediction="late", reference="g"),
            Edge(prediction="lost", reference="g"),
            Edge(prediction="early", reference="said"),
            Edge(prediction="nobody", reference="g"),
            Edge(prediction="early", reference="nothing"),
            Edge(prediction="early", reference="g", excluded="quote not found in the text"),
        ),
        volunteered=("said",),
    )
    found = assign(given_, 5)
    assert [edge.excluded for edge in found.excluded] == [
        "dropped question",
        "question without a round",
        "volunteered target",
        "unknown prediction id",
        "unknown reference id",
        "quote not found in the text",
    ]
    assert (found.tp, found.fp, found.fn) == (0, 2, 1)


def test_rounds_do_not_matter_outside_the_trajectory() -> None:
    found = assign(evidence([9, None], 2, [(0, 0), (1, 1)], axis="diagnosis"), 1)
    assert (found.tp, found.fp, found.fn, found.matched_rounds) == (2, 0, 0, ())
