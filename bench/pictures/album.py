"""Which pictures there are: one a donor and one a pictured record of `osce_zh`, with the files that name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from meddc_bench import yamlfile
from pictures.looks import SIZE, Seen, draw

ROOT = Path(__file__).resolve().parents[2]
DONORS = ROOT / "meddc_bench" / "environments"
OSCE = ROOT / "tasks" / "osce_zh"
_MOST = 6
"""Mean difference of grey that a reduced palette may make."""


@dataclass(frozen=True)
class Wanted:
    """A picture: its name, what it shows, where its file is, and how its digest is written down."""

    name: str
    seen: Seen
    path: Path
    record: Callable[[str], None]


def donors() -> Iterator[Wanted]:
    """Iterate over the pictures of the donor bank."""
    file = DONORS / "donors.yaml"
    for number, one in enumerate(yamlfile.load(file).data["donors"], 1):
        name = f"d{number:03}"
        seen = Seen(one["modality"], one["anatomy"], one.get("view"), None, one.get("stain"))
        yield Wanted(name, seen, DONORS / "donors" / f"{name}.png", _in_flow(file, seen, f"donors/{name}.png"))


def cases() -> Iterator[Wanted]:
    """Iterate over the pictures of the cases' records."""
    for file in sorted((OSCE / "cases").glob("*.yaml")):
        case = yamlfile.load(file).data
        for panel in case["workup"]["profile"]:
            if panel["category"] in ("imaging", "pathology") and panel.get("modality") and panel.get("anatomy"):
                name = f"{case['id']}-{panel['id']}"
                seen = Seen(*[panel.get(key) for key in ("modality", "anatomy", "view", "laterality", "stain")])
                yield Wanted(
                    name, seen, OSCE / "media" / f"{name}.png", _in_block(file, panel["id"], f"media/{name}.png")
                )


def differs(one: Wanted) -> bool:
    """Tell whether a picture's file is missing, or is not what its attributes are drawn as."""
    if not one.path.is_file():
        return True
    with Image.open(one.path) as image:
        found = np.asarray(image.convert("RGB"), dtype=float)
    return found.shape != (SIZE, SIZE, 3) or float(np.abs(found - draw(one.seen, one.name)).mean()) > _MOST


def _in_flow(file: Path, seen: Seen, path: str) -> Callable[[str], None]:
    start = f"  - {{modality: {seen.modality}, anatomy: {seen.anatomy}"

    def record(sha256: str) -> None:
        lines = file.read_text(encoding="utf-8").split("\n")
        for n, line in enumerate(lines):
            if line.startswith(start + ",") or line.startswith(start + "}"):
                plain = re.sub(r", picture: \{.*\}\}$", "}", line)
                lines[n] = f"{plain[:-1]}, picture: {{file: {path}, sha256: {sha256}}}}}"
        file.write_text("\n".join(lines), encoding="utf-8")

    return record


def _in_block(file: Path, panel: str, path: str) -> Callable[[str], None]:
    def record(sha256: str) -> None:
        out, inside = [], False
        for line in file.read_text(encoding="utf-8").split("\n"):
            inside = line == f"    - id: {panel}" if line.startswith("    - id: ") else inside
            if inside and line.startswith("      picture:"):
                continue
            if inside and line == "      findings:":
                out.append(f"      picture: {{file: {path}, sha256: {sha256}}}")
                inside = False
            out.append(line)
        file.write_text("\n".join(out), encoding="utf-8")

    return record
