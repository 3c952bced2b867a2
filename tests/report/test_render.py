"""The page is inert and self-contained whatever a label says, and can be had without the extra."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from meddc_harness import World

from meddc_bench.report import charts
from meddc_bench.report.figures import Coverage, Outcomes, Reached, Share
from meddc_bench.report.page import Column, Figure, Report, Section, Table, TaskPage
from meddc_bench.report.render import to_html, to_markdown
from meddc_bench.report.svg import sanitised
from meddc_bench.report.words import Words

HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(1)>', "</style></title><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% for x in y %}", "\x1b[31mred\x1b[0m", "\u202egnp.exe", "javascript:alert(1)", "' onclick='alert(1)",
)  # fmt: skip


class Page(HTMLParser):
    """Collects elements, attributes and text."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def figure(text: str) -> Figure:
    data = Coverage((text,), (text,), (Reached(text, 0, 0.0), Reached(text, 1, 50.0)))
    return Figure("rounds", Words(text, text), Words(text, text), data, table(text))


def table(text: str) -> Table:
    return Table(
        Words(text, text),
        (Column(text), Column(Words(text, "en " + text), False)),
        ((text, text),),
        (Words(text, text),),
    )


def hostile_report() -> Report:
    sections = tuple(
        Section(f"s{at}", Words(text, text), (Words(text, text + "."),), (table(text), figure(text)))
        for at, text in enumerate(HOSTILE)
    )
    closing = Section("end", Words(*HOSTILE[:2]), (Words(*HOSTILE[1:3]),), (table(HOSTILE[1]),))
    return Report(HOSTILE[0], (Words(*HOSTILE[:2]),), (TaskPage("task", HOSTILE[2], sections),), (closing,))


def assert_inert(html: str) -> Page:
    page = Page(html)
    assert {tag for tag, _ in page.elements} & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "link",
        "form",
        "base",
    } == set()
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "style" not in attributes, (tag, attributes)
        for name in ("href", "xlink:href", "src", "action", "data"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    assert not re.search(r"url\((?!#)|@import", html)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", html)
    (policy,) = [one["content"] for tag, one in page.elements if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    return page


@pytest.mark.parametrize("language", ["zh", "en", "both"])
def test_hostile_text_is_text_on_the_page(language: str) -> None:
    page = assert_inert(to_html(hostile_report(), language, {}))  # type: ignore[arg-type]
    text = "".join(page.text)
    assert HOSTILE[0] in text
    assert HOSTILE[2] in text, "a template in a label is not rendered"
    assert "red" in text


def test_hostile_labels_are_text_in_charts() -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    one = figure(HOSTILE[0])
    report = Report("r", (), (TaskPage("t", "t", (Section("s", Words("节", "s"), (), (one,)),)),), ())
    page = assert_inert(to_html(report, "zh", {("t", "rounds"): {"zh": charts.to_svg(one, "zh")}}))
    assert "svg" in {tag for tag, _ in page.elements}
    assert "轮次" in "".join(page.text)


def test_colours_and_labels_of_a_chart_are_in_the_language_asked_for() -> None:
    pytest.importorskip("vl_convert")
    shares = (Share("a", "scored", 3), Share("a", "judge_failed", 2))
    one = Figure("outcomes", Words("结局", "Outcomes"), Words("", ""), Outcomes(("a",), shares), None)
    zh, en = charts.to_svg(one, "zh"), charts.to_svg(one, "en")
    assert "裁判失败" in zh
    assert "judge failed" in en
    assert not re.search("[\u4e00-\u9fff]", en)
    assert "#0072B2" in en


@pytest.mark.parametrize(
    "svg",
    [
        '<svg xmlns="http://www.w3.org/2000/svg"><script>x()</script><g onclick="x()" style="a:url(http://a)"/></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><a href="http://a"><text>t</text></a><image href="http://a"/></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><b/></foreignObject><rect fill="url(http://a#b)"/></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><set attributeName="href" to="javascript:x()"/><use href="#a"/></svg>',
    ],
)
def test_only_what_draws_is_let_in(svg: str) -> None:
    found = sanitised(svg, "f-", "F")
    assert not re.search(r"script|onclick|http|style|foreign|href|<use|<set|<a ", found)


def test_an_svg_with_a_declaration_is_refused() -> None:
    with pytest.raises(ValueError, match="declaration"):
        sanitised('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "f-", "F")


def test_markdown_holds_no_mark_up_of_a_label() -> None:
    text = to_markdown(hostile_report(), "both")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not re.search(r"(?<!\\)<", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {3}


def test_the_same_run_gives_the_same_bytes(world: World) -> None:
    world.run(policies=["asker", "null"])
    for name in ("a.html", "b.html"):
        assert (
            world.cli("report", str(world.root / "run"), "--no-charts", "--draws", "100", "-o", str(world.root / name))
            == 0
        )
    assert (world.root / "a.html").read_bytes() == (world.root / "b.html").read_bytes()


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the packages of the extra impossible to import."""
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)


def test_without_the_extra_charts_are_refused_with_the_command_that_installs_it(
    world: World, without_extra: None, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(policies=["asker"])
    assert world.cli("report", str(world.root / "run")) == 2
    assert "pip install 'meddc-bench[report]'" in capsys.readouterr().err
    assert not (world.root / "run" / "report.html").exists()


def test_tables_need_no_extra(world: World, without_extra: None, capsys: pytest.CaptureFixture[str]) -> None:
    world.run(policies=["asker", "null"])
    run = world.root / "run"
    for words, name in ((("--format", "md"), "report.md"), (("--no-charts",), "report.html")):
        assert world.cli("report", str(run), "--draws", "100", *words) == 0
        assert capsys.readouterr().out.splitlines()[-1] == str(run / name)
        assert "asker" in (run / name).read_text(encoding="utf-8")


def test_a_run_with_failures_gives_a_whole_page_and_every_png(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vl_convert")
    world.run(policies=["asker", "null", "hostile"], judges=[("equal", {"fail": "own", "on": "阑尾炎"})])
    run, page = str(world.root / "run"), world.root / "page.html"
    assert world.cli("report", run, "--draws", "100", "-o", str(page)) == 0
    found = assert_inert(page.read_text(encoding="utf-8"))
    drawn = sum(tag == "svg" for tag, _ in found.elements)
    assert drawn == 2 * sum(tag == "figure" for tag, _ in found.elements)
    monkeypatch.setattr(charts, "has_chinese_font", lambda more=(): False)
    assert world.cli("report", run, "--draws", "100", "--format", "png", "-o", str(world.root / "png")) == 0
    assert "no font with Chinese characters was found" in capsys.readouterr().err
    files: list[Path] = sorted((world.root / "png").iterdir())
    assert len(files) == drawn / 2
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


def test_predictions_alone_give_a_report_of_outcomes(world: World) -> None:
    world.run(policies=["asker"], predict_only=True)
    out = world.root / "p.md"
    assert world.cli("report", str(world.root / "run"), "--format", "md", "-o", str(out)) == 0
    assert "结局" in out.read_text(encoding="utf-8")


def test_imported_consultations_are_reported_without_their_ids_and_texts(world: World) -> None:
    turns = [
        {"role": "patient", "text": "医生，我咳嗽。"},
        {"role": "doctor", "text": "发烧吗？"},
        {"role": "patient", "text": "发烧。"},
    ]
    lines = {
        "h.jsonl": [
            {"case": "secret-1", "policy": policy, "turns": turns, "summary": "考虑肺炎。", "diagnoses": ["肺炎"]}
            for policy in ("mine", "yours")
        ],
        "r.jsonl": [{"case": "secret-1", "diagnoses": ["肺炎"]}],
    }
    for name, rows in lines.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (world.root / name).write_text(text, encoding="utf-8")
    run, references = str(world.root / "run"), f"references={world.root / 'r.jsonl'}"
    words = ("--importer", "histories", "--importer-args", references, "--histories", str(world.root / "h.jsonl"))
    assert world.cli("score", *words, "-o", run) == 0
    assert world.cli("report", run, "--no-charts", "--draws", "100") == 0
    page = (world.root / "run" / "report.html").read_text(encoding="utf-8")
    assert "mine" in page
    assert "没有病例带有它的参考答案" in page
    for secret in ("secret-1", "咳嗽", "肺炎", str(world.root)):
        assert secret not in page, secret


def test_a_folder_that_is_no_run_is_refused(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.cli("report", str(world.root), "--format", "md") == 2
    assert "is not a run folder" in capsys.readouterr().err
