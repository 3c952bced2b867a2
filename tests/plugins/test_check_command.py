"""The verbs `plugins new`, `plugins check` and `plugins doctor`, what a check leaves behind, and the plugin API's version."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meddc_bench import campaign, checked, cli, registry, run
from meddc_bench.contracts import Options
from meddc_bench.deprecation import Deprecated, Renamed, collected, renamed
from meddc_bench.registry import Registry

MakePoint = Callable[..., Any]


class Silent:
    """A policy that diagnoses nothing."""

    def __init__(self, options: Any, context: Any):
        pass


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run the command line in this process: exit code, standard output and error."""
    monkeypatch.setenv("MEDDC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def start(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            cli.main(list(words))
        assert isinstance(left.value.code, int)
        shown = capsys.readouterr()
        return left.value.code, shown.out, shown.err

    return start


def test_a_check_that_passes_says_each_property_and_exits_0(line: Callable[..., Any]) -> None:
    code, out, _ = line("plugins", "check", "eager")
    assert code == 0
    assert out.startswith("policy eager (meddc-bench ")
    assert out.rstrip().endswith("10 passed, 0 failed, 0 not tried")


def test_a_check_that_fails_exits_1_and_says_how_to_mend_it(
    line: Callable[..., Any], point: MakePoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda **_: [point("quiet", policies={"quiet": Silent})])
    code, out, _ = line("plugins", "check", "quiet")
    assert code == 1
    assert "  failed     types " in out
    assert "mend it: see the page of this kind" in out
    code, out, _ = line("plugins", "check", "quiet", "--json")
    report = json.loads(out)
    assert (code, report["passed"], report["name"]) == (1, False, "quiet")
    assert {one["result"] for one in report["properties"]} == {"passed", "failed", "not tried"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("checklst",), "no plugin registers the name 'checklst'; did you mean 'checklist'?"),
        (("openai",), "'openai' is the name of a policy, a patient, a reader, a judge; say which: --kind policy"),
        (("checklist", "--kind", "reader"), "no reader is named 'checklist'"),
        (("checklist", "--args", "speed=2"), "policy 'checklist' has no option 'speed'"),
        (("checklist", "--file", "x.jsonl"), "--file is an importer's example; 'checklist' is a policy"),
        (("histories", "--file", "no_such.jsonl"), "--file no_such.jsonl: there is no such file"),
        (("scripted",), "option 'file': Field required"),
    ],
)
def test_a_check_of_something_that_is_not_there_is_a_usage_error(
    words: tuple[str, ...], said: str, line: Callable[..., Any]
) -> None:
    code, _, err = line("plugins", "check", *words)
    assert code == 2
    assert said in err


def test_new_names_what_it_made_and_ends_with_the_folder(line: Callable[..., Any], tmp_path: Path) -> None:
    code, out, err = line("plugins", "new", "reader", "my_reader")
    assert code == 0
    assert out.splitlines()[-1] == "my_reader"
    assert "my_reader/my_reader/reader.py" in out
    assert "pip install -e my_reader && meddc-bench plugins check my_reader --kind reader" in err
    assert line("plugins", "new", "reader", "my_reader")[0] == 2
    assert line("plugins", "new", "doctor", "x")[0] == 2


# ── what a check leaves behind ───────────────────────────────────────────────────────────────────


def manifest(folder: Path, installed: Registry) -> dict[str, Any]:
    built = campaign.build(
        {"tasks": ["meddc_record"], "policies": [{"name": "eager", "label": "doctor"}], "limit": 1, "repeats": 1}
    )
    run.execute(built, run.prepare(built, installed), installed, folder)
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())["checked"]
    return found


def test_a_runs_manifest_says_of_each_adapter_whether_it_was_checked_and_how_that_went(
    line: Callable[..., Any], installed: Registry, tmp_path: Path
) -> None:
    before = manifest(tmp_path / "a", installed)
    assert set(before) >= {"policy:doctor", "patient:grounded", "reader:knowledge", "judge:lexical", "metric:D"}
    assert {one["result"] for one in before.values()} == {"never"}
    line("plugins", "check", "eager")
    checked.keep(installed.get("patient", "grounded"), ["state"], ["blindness"])
    after = manifest(tmp_path / "b", installed)
    assert after["policy:doctor"]["result"] == "passed"
    assert after["policy:doctor"]["when"].endswith("+00:00")
    assert (after["patient:grounded"]["result"], after["patient:grounded"]["failed"]) == ("failed", ["state"])
    assert after["judge:lexical"] == {"result": "never"}
    results = [(tmp_path / name / "results.json").read_bytes() for name in "ab"]
    assert results[0] == results[1]


def test_a_check_counts_for_its_version_and_revision_alone(point: MakePoint, line: Callable[..., Any]) -> None:
    def of(revision: str) -> Any:
        def both(register: Any) -> None:
            register("mine", Silent, Options, revision=revision)

        return Registry.load([point("p", policies=both)]).get("policy", "mine")

    checked.keep(of("1"), [], [])
    assert checked.kept(of("1")) is not None
    assert checked.kept(of("2")) is None


def test_a_kept_result_that_cannot_be_read_is_as_good_as_none(line: Callable[..., Any], installed: Registry) -> None:
    entry = installed.get("policy", "eager")
    checked.keep(entry, [], [])
    (path,) = (checked.cache_folder() / "checks").iterdir()
    path.write_bytes(b"{torn")
    assert checked.said(entry) == {"result": "never"}


# ── the plugin API's version, and names that go ──────────────────────────────────────────────────


def versioned(point: MakePoint, name: str, version: Any) -> Any:
    made = point(name, policies={f"{name}_policy": Silent})
    made.module.MEDDC_BENCH_API = version
    return made


def test_a_plugin_made_for_another_version_is_named_and_refused_and_nothing_else_stops(point: MakePoint) -> None:
    found = Registry.load([versioned(point, "newer", 2), versioned(point, "fits", 1)])
    assert found.names("policy") == ["fits_policy"]
    (newer,) = [one for one in found.plugins if one.name == "newer"]
    assert newer.problem == (
        "PluginError: plugin newer: was made for version 2 of the plugin API, this program has version 1; install a version "
        "of the plugin made for 1, or the meddc-bench that it was made for"
    )


def test_a_plugin_that_does_not_say_its_version_works_and_is_warned(
    point: MakePoint, line: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [point("mute", policies={"mute_policy": Silent}), versioned(point, "fits", 1)]
    found = Registry.load(points)
    assert found.names("policy") == ["fits_policy", "mute_policy"]
    assert {one.name: bool(one.warnings) for one in found.plugins} == {"mute": True, "fits": False}
    monkeypatch.setattr(registry, "entry_points", lambda **_: points)
    code, out, _ = line("plugins", "doctor")
    assert code == 0
    assert "warning: mute (third-party 1.2): does not say for which version of the plugin API it was made" in out
    assert out.rstrip().endswith("2 plugins, 0 problems, 1 warnings")


def test_a_renamed_name_works_and_warns_before_it_goes() -> None:
    find = renamed("meddc_bench.contracts", {"Doctor": Renamed("Policy", gone="2")})
    with pytest.warns(Deprecated, match=r"contracts\.Doctor is called Policy now; the old name goes with version 2"):
        found = find("Doctor")
    from meddc_bench.contracts import Policy

    assert found is Policy
    with pytest.raises(AttributeError, match="has no attribute 'Docter'"):
        find("Docter")


def test_a_deprecated_hook_warns_whoever_implements_it(point: MakePoint, monkeypatch: pytest.MonkeyPatch) -> None:
    from meddc_bench import contracts

    words = "register_policies goes with version 2 of the plugin API: use register_doctors"
    monkeypatch.setitem(contracts.register_policies.meddc_bench_spec, "warn_on_impl", Deprecated(words))
    found = Registry.load([versioned(point, "old", 1)])
    assert found.names("policy") == ["old_policy"]
    assert any(words in one for one in found.plugins[0].warnings)


def test_collecting_deprecations_lets_other_warnings_through() -> None:
    with pytest.warns(UserWarning, match="of their own"):
        assert _warned_of_both() == ["goes"]


def _warned_of_both() -> list[str]:
    with collected() as found:
        warnings.warn("goes", Deprecated, stacklevel=1)
        warnings.warn("of their own", UserWarning, stacklevel=1)
    return found
