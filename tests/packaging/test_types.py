"""The types that are shipped hold for a third party under the strictest checks."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from installed_lab import Installed

import meddc_bench

USER = Path(__file__).parent / "every_public_name.py"


def check(installed: Installed, file: Path, cache: Path) -> str:
    """Run `mypy --strict` on a file as a third party would, against what is installed; return what it says."""
    words = [
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        f"--cache-dir={cache}",
        f"--python-executable={installed.python}",
    ]
    return installed.run(sys.executable, *words, file).stdout


def test_a_strictly_typed_plugin_may_use_every_public_name(installed_wheel: Installed, tmp_path: Path) -> None:
    tree = ast.parse(USER.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "meddc_bench"]
    imported = {alias.name for node in imports for alias in node.names}
    assert imported == set(meddc_bench.__all__), "every_public_name.py uses every public name"
    assert check(installed_wheel, USER, tmp_path) == "Success: no issues found in 1 source file\n"


def test_a_misspelt_name_or_field_is_found_by_a_type_checker(installed_wheel: Installed, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from meddc_bench import Answer, Polcy\n"
        "from meddc_offline.plugin import nothing\n"
        'Answer(text=3, fact_ids=("f1",))\n'
        'Answer("有", fact_id=("f1",))\n',
        encoding="utf-8",
    )
    said = check(installed_wheel, wrong, tmp_path)
    assert 'wrong.py:1: error: Module "meddc_bench" has no attribute "Polcy"' in said
    assert 'wrong.py:2: error: Module "meddc_offline.plugin" has no attribute "nothing"' in said
    assert 'wrong.py:3: error: Argument "text" to "Answer" has incompatible type "int"' in said
    assert 'wrong.py:4: error: Unexpected keyword argument "fact_id" for "Answer"' in said
