"""The card of an imported task: README.md of its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator

from meddc_bench.importing.made import Made


def card(made: Made) -> str:
    """Write the card: provenance, licence, counts, what was left out and why, what a person must decide."""
    return "\n".join(_lines(made)) + "\n"


def _lines(made: Made) -> Iterator[str]:
    about = made.about
    yield from (f"# {made.name}", "", f"{_cell(about.title)}, imported.", "", "| | |", "| --- | --- |")
    rows = {
        "origin": about.origin, "licence": about.licence, "split": about.split or "not said", "language": made.language,
        "private": "yes: no case text leaves a run" if about.private else "no", "cases": made.cases, "facts": made.facts,
        "scored targets": f"{made.targets}, {made.derived} of them derived" if made.derived else made.targets,
        "histories": ", ".join(f"{policy} {count}" for policy, count in sorted(made.histories.items())) or "none",
        "rows excluded": sum(made.excluded.values()), "defects": made.defects,
    }  # fmt: skip
    yield from (f"| {name} | {_cell(str(value))} |" for name, value in rows.items())
    yield from ("", "## Provenance", "", f"Importer `{made.origin['importer']}`, revision {made.origin['revision']}, options "
                f"`{json.dumps(made.origin['options'], ensure_ascii=False)}`.", "")  # fmt: skip
    yield from (f"- {_cell(name)}: sha256 `{digest}`" for name, digest in made.origin["files"].items())
    yield from ("", "## Left out", "")
    if made.excluded:
        yield from ("| rows | reason | such as |", "| --- | --- | --- |")
        for reason, count in sorted(made.excluded.items(), key=lambda one: (-one[1], one[0])):
            where = ", ".join(_place(one) for one in made.examples[reason][:3])
            yield f"| {count} | {_cell(reason)} | {_cell(where)} |"
        yield ""
    yield from (f"- {_cell(_place(one))}" for one in made.notes)
    yield from (f"- {_cell(_place(one))}" for one in made.defect_lines)
    if made.defects > len(made.defect_lines):
        yield f"- and {made.defects - len(made.defect_lines)} defects more"
    if not (made.excluded or made.notes or made.defects):
        yield "Nothing."
    if made.decide:
        yield from ("", "## A person must decide", "")
        yield from (f"- {_cell(one)}" for one in made.decide)


def _place(where: str) -> str:
    """Keep a file's name and not its path, which says where somebody keeps the data."""
    path, colon, rest = where.partition(":")
    return f"{path.replace(chr(92), '/').rpartition('/')[2]}{colon}{rest}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
