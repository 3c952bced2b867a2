"""Draws the pictures and writes their digests into the YAML files that name them: `python bench/pictures [--check]`.

    meddc_bench/environments/donors.yaml   one picture a donor, beside it in donors/
    tasks/osce_zh/cases/*.yaml             one a record with modality and anatomy, in tasks/osce_zh/media/

A file that is there and shows what it should is left as it is: another version of Pillow writes other bytes of the same
picture, and histories name pictures by their bytes. `--check` writes nothing, and fails where a picture is missing or another.
"""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image

from pictures.album import ROOT, Wanted, cases, differs, donors
from pictures.looks import draw


def main() -> None:
    """Draw what is missing, or check what is there."""
    wrong = [one for one in (*donors(), *cases()) if differs(one)]
    if "--check" in sys.argv[1:]:
        for one in wrong:
            print(f"{one.path.relative_to(ROOT)}: is missing or shows something else")
        sys.exit(bool(wrong))
    for one in wrong:
        one.path.parent.mkdir(exist_ok=True)
        one.path.write_bytes(_png(one))
    for one in (*donors(), *cases()):
        one.record(hashlib.sha256(one.path.read_bytes()).hexdigest())
    print(f"{len(wrong)} drawn")


def _png(one: Wanted) -> bytes:
    image = Image.fromarray(draw(one.seen, one.name))
    out = io.BytesIO()
    image.quantize(64, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


main()
