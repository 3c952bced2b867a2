"""The pytest suites: the same checks as `plugins check`, and no way to weaken one without saying why."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from meddc_bench.contracts import Spec
from meddc_bench.records import JUDGE_STEPS
from meddc_bench.registry import KINDS, Registry
from meddc_bench.testing import (
    PROPERTIES,
    SUITES,
    EnvironmentSuite,
    ImporterSuite,
    JudgeSuite,
    MetricSuite,
    PatientSuite,
    PolicySuite,
    ReaderSuite,
    Subject,
    check,
)
from meddc_bench.testing.worlds import HOSTILE


class TestChecklist(PolicySuite):
    name = "checklist"


class TestScripted(PolicySuite):
    name = "scripted"
    options = {"file": str(Path(__file__).parent / "script.txt")}  # noqa: RUF012


class TestGrounded(PatientSuite):
    name = "grounded"


class TestKnowledge(ReaderSuite):
    name = "knowledge"


class TestLexical(JudgeSuite):
    name = "lexical"


class TestTotal(MetricSuite):
    name = "Total"


class TestTversky(MetricSuite):
    name = "Tversky"


class TestConsultation(EnvironmentSuite):
    name = "consultation"


class TestWorkup(EnvironmentSuite):
    name = "workup"


class TestHistories(ImporterSuite):
    name = "histories"
    file = Path(__file__).parent / "histories.jsonl"


def test_every_kind_has_a_suite_and_every_property_a_test() -> None:
    assert set(SUITES) == set(PROPERTIES) == set(KINDS)
    for kind, suite in SUITES.items():
        assert all(hasattr(suite, f"test_{one.name}") for one in PROPERTIES[kind]())


def test_a_standard_test_cannot_be_replaced() -> None:
    with pytest.raises(TypeError, match=r"Weak replaces the standard test_determinism; .*waived = {\"determinism\""):
        type("Weak", (PolicySuite,), {"name": "x", "test_determinism": lambda self: None})
    with pytest.raises(TypeError, match="Gone replaces the standard test_blindness"):
        type("Gone", (ReaderSuite,), {"name": "x", "test_blindness": None})
    with pytest.raises(TypeError, match="Sly replaces the standard _trial"):
        type("Sly", (ReaderSuite,), {"_trial": classmethod(lambda cls: None)})


@pytest.mark.parametrize("reason", ["", "   ", "no", None])
def test_a_waiver_needs_a_reason(reason: Any) -> None:
    with pytest.raises(TypeError, match="waives 'determinism' without a reason"):
        type("Lazy", (PolicySuite,), {"name": "x", "waived": {"determinism": reason}})


def test_a_waiver_of_no_property_is_refused() -> None:
    with pytest.raises(TypeError, match="waives 'determinsm'; the properties are blindness, builds"):
        type("Typo", (PolicySuite,), {"name": "x", "waived": {"determinsm": "the endpoint draws at random"}})


def test_a_waived_property_that_holds_is_reported() -> None:
    suite = type("Stale", (PolicySuite,), {"name": "eager", "waived": {"determinism": "the endpoint draws at random"}})
    with pytest.raises(pytest.fail.Exception, match="determinism is waived and holds; take the waiver away"):
        suite().test_determinism()


def test_what_does_not_hold_fails_with_what_came_and_how_to_mend_it() -> None:
    options = {"file": str(Path(__file__).parent / "one_question.txt")}
    suite: Any = type("Short", (PolicySuite,), {"name": "scripted", "options": options})
    with pytest.raises(
        pytest.fail.Exception, match=r"types: expected: .*; came: on an ordinary case it raised .*mend it: "
    ):
        suite().test_types()
    with pytest.raises(pytest.skip.Exception, match="needs types, which failed"):
        suite().test_determinism()
    waived: Any = type("Known", (suite,), {"waived": {"types": "its script ends before the budget does"}})
    with pytest.raises(pytest.xfail.Exception, match="waived: its script ends"):
        waived().test_types()


def test_the_hostile_texts_are_the_ones_that_broke_others() -> None:
    joined = "".join(HOSTILE.values())
    assert max(map(len, HOSTILE.values())) >= 100_000
    assert "" in HOSTILE.values()
    for one in ("{{7*7}}", "</history>", "\u202e", "👩", "\x00", "\x1b[2J"):
        assert one in joined
    joined.encode("utf-8")  # no lone surrogates


def test_a_judge_is_asked_every_step_that_it_provides() -> None:
    from meddc_bench.testing.roles import hostile_views, role_of

    steps = {view.step for view in hostile_views(role_of("judge", ()), (), "x")}
    assert steps == set(JUDGE_STEPS)


@pytest.mark.parametrize("kind", ["policy", "patient", "reader", "judge"])
def test_an_adapter_for_english_tasks_is_checked_in_english(kind: str, point: Any, installed: Any) -> None:
    names = {"policy": "checklist", "patient": "grounded", "reader": "knowledge", "judge": "lexical"}
    heard: set[str] = set()

    def build(options: Any, context: Any) -> Any:
        inner = context.build(kind, Spec(names[kind]))
        method = {"policy": "act", "patient": "answer", "reader": "read", "judge": "judge"}[kind]

        async def answered(view: Any) -> Any:
            heard.add(view.language)
            return await getattr(inner, method)(view)

        return SimpleNamespace(**{method: answered})

    def only_english(register: Any) -> None:
        register("english", build, languages=("en",))

    registry = Registry.load([*entry_points(group="meddc_bench"), point("p", **{KINDS[kind]: only_english})])
    report = check(Subject(registry, kind, "english"))
    assert report.passed, [str(one) for one in report.verdicts if one.result == "failed"]
    assert heard == {"en"}


def test_an_adapter_for_a_language_without_cases_is_said_not_to_be_tried(point: Any) -> None:
    def welsh(register: Any) -> None:
        register("welsh", lambda options, context: SimpleNamespace(read=print), languages=("cy",))

    report = check(Subject(Registry.load([point("p", readers=welsh)]), "reader", "welsh"))
    (types,) = [one for one in report.verdicts if one.property.name == "types"]
    assert (types.result, types.seen) == ("not tried", "there are no cases in the language 'cy', only in zh, en")
