"""`meddc-bench report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_OUT = "HTML or Markdown file, folder for PNG [default: report.html, report.md, report_png in the run folder]."


@click.command("report")
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help=_OUT)
@click.option(
    "--format", "kind", type=click.Choice(["html", "md", "png"]), default="html", show_default=True,
    help="One HTML file; Markdown tables; or one PNG a figure.",
)  # fmt: skip
@click.option(
    "--lang", type=click.Choice(["zh", "en", "both"]), default="both", show_default=True,
    help="Chinese, English, or both with a switch on the page.",
)  # fmt: skip
@click.option("--draws", type=click.IntRange(min=100), default=2000, show_default=True, help="Bootstrap draws.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--no-charts", is_flag=True, help="Tables alone: needs no extra.")
@click.option("--font", type=click.Path(path_type=Path), metavar="FOLDER", help="Folder of more fonts, for PNG.")
@click.option("--include-text", is_flag=True, help="Let ids, openings and reasons that may quote a case be in it.")
def command(run_folder: Path, **flags: Any) -> int:
    """Write the report of a run: scores, reader swap, differences, instruments; with figures.

    \b
    meddc-bench report runs/demo
    meddc-bench report runs/demo --format png --lang en -o figures
    """
    from meddc_bench.errors import StoreError
    from meddc_bench.report import charts
    from meddc_bench.report.content import report
    from meddc_bench.report.measures import Options
    from meddc_bench.stored import open_run

    kind = flags["kind"]
    drawn = kind != "md" and not flags["no_charts"]
    if kind == "png" and flags["no_charts"]:
        raise click.UsageError("--format png is nothing but charts: leave --no-charts out")
    if drawn:
        charts.check_installed()
        if flags["font"]:
            charts.use_fonts(flags["font"])
    with open_run(run_folder) as run:
        made = report(run, Options(flags["draws"], flags["seed"], flags["include_text"]))
    default = run_folder / {"html": "report.html", "md": "report.md", "png": "report_png"}[kind]
    target = flags["output"] or default
    try:
        (target if kind == "png" else target.parent).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}") from error
    if kind == "png":
        _write_png(made, target, flags["lang"], [flags["font"]] if flags["font"] else [])
    else:
        _write_page(made, target, kind, flags["lang"], drawn=drawn)
    click.echo(str(target))
    return 0


def _write_page(made: Any, target: Path, kind: str, lang: Any, *, drawn: bool) -> None:
    from meddc_bench.report import charts
    from meddc_bench.report.render import languages_of, to_html, to_markdown
    from meddc_bench.store import save

    if kind == "md":
        save(target, to_markdown(made, lang).encode("utf-8"))
        return
    svgs = {
        (task, figure.name): {one: charts.to_svg(figure, one) for one in languages_of(lang)}
        for task, figure in made.figures if drawn
    }  # fmt: skip
    save(target, to_html(made, lang, svgs).encode("utf-8"))


def _write_png(made: Any, folder: Path, lang: Any, fonts: list[Path]) -> None:
    from meddc_bench.cli.screen import say
    from meddc_bench.report import charts
    from meddc_bench.report.render import languages_of
    from meddc_bench.store import save
    from meddc_bench.text import safe_name

    languages = languages_of(lang)
    if "zh" in languages and not charts.has_chinese_font(fonts):
        languages = ("en",)
        hint = "install one (such as fonts-noto-cjk or fonts-wqy-microhei) or name its folder with --font"
        say(f"note: no font with Chinese characters was found, so the labels are in English; {hint}", err=True)
    for task, figure in made.figures:
        for one in languages:
            suffix = f"-{one}" if len(languages) > 1 else ""
            save(folder / f"{safe_name(task, 80)}-{figure.name}{suffix}.png", charts.to_png(figure, one))
