"""YAML files: what people write is what is read, and a fault says file, line and key."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from meddc_bench import yamlfile
from meddc_bench.errors import InputError
from meddc_bench.yamlfile import Document

Load = Callable[..., Document]


class Part(BaseModel):
    """A part of the model below."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    level: int = 1


class Whole(BaseModel):
    """A model with what tasks and campaigns use: lists, nested models, unions, free options."""

    model_config = ConfigDict(extra="forbid", strict=True)
    title: str
    parts: tuple[Part, ...] = ()
    by_name: dict[str, Part] = {}
    files: str | tuple[str, ...] = ()
    view: Literal["cut", "mask"] = "cut"
    weight: float = 1.0
    on: bool = False
    options: dict[str, Any] = {}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def read(text: str | bytes) -> Document:
        file = tmp_path / "a.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return yamlfile.load(file)

    return read


def fault(load: Load, text: str | bytes) -> str:
    """The message of the fault that a file has as a Whole, without its folder."""
    with pytest.raises(InputError) as failed:
        yamlfile.validate(Whole, load(text))
    assert failed.value.exit_code == 2
    return str(failed.value).partition("a.yaml")[2]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("N", "N"),
        ("3:30", "3:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("'3'", "3"),
        ('"null"', "null"),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("Null", None),
        ("~", None),
        ("", None),
        ("3", 3),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("腹痛：三天", "腹痛：三天"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_scalar_is_read_as_people_mean_it_and_not_as_yaml_1_1_does(written: str, read: Any, load: Load) -> None:
    found = load(f"a: {written}").data["a"]
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: x\nveiw: cut", ":2:veiw: unknown key; did you mean 'view'?"),
        ("title: x\nzzz: 1", ":2:zzz: unknown key; known keys: by_name, files, on"),
        ("title: x\nparts:\n- name: a\n- name: b\n  levle: 2", ":5:parts[1].levle: unknown key; did you mean 'level'?"),
        ("title: x\nby_name:\n  a: {name: a, nmae: b}", ":3:by_name.a.nmae: unknown key; did you mean 'name'?"),
        ("title: x\nparts:\n- {level: 2}", ":3:parts[0].name: this key is missing"),
        ("view: cut", ":1:title: this key is missing"),
        ("title: 3", ":1:title: expected text; put it in quotes (found 3)"),
        ("title: true", ":1:title: expected text; put it in quotes (found True)"),
        ("title:", ":1:title: expected text; put it in quotes (found None)"),
        ("title: x\nparts: {name: a}", ":2:parts: expected a list"),
        ("title: x\nparts: [a]", ":2:parts[0]: expected keys and values (found 'a')"),
        ("title: x\nparts:\n- name: a\n  level: '2'", ":4:parts[0].level: Input should be a valid integer (found '2')"),
        ("title: x\nview: full", ":2:view: Input should be 'cut' or 'mask' (found 'full')"),
        ("title: x\nweight: no", ":2:weight: Input should be a valid number (found 'no')"),
        ("title: x\non: no", ":2:on: Input should be a valid boolean (found 'no')"),
        ("title: x\nfiles: 3", ":2:files: expected text; put it in quotes (found 3)"),
        ("- a\n- b", ":1: expected keys and values"),
        ("", ": expected keys and values"),
        ("title: x\na: 1\ntitle: y", ":3:title: this key is there twice"),
        ("title: x\nparts:\n- name: a\n  name: b", ":4:name: this key is there twice"),
        ("title: [x", ":2: is not valid YAML: did not find expected ',' or ']'"),
        ("titel: x", ":1:titel: unknown key; did you mean 'title'?"),
        ("title: x\n\tview: cut", ":2: is not valid YAML"),
        ("a: 1\n---\nb: 2", ":2: is not valid YAML: but found another document"),
        ("title: x\nview: c\x01t", ":2: is not valid YAML: control characters are not allowed"),
        ("a: &a {x: 1}\nb:\n  <<: *a", ":3: keys must be plain text"),
        ("? [a]\n: b", ":1: keys must be plain text"),
        (
            "title: !!python/object/apply:os.system [id]",
            ":1: the tag 'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
        ("title: !include other.yaml", ":1: the tag '!include' is not allowed"),
    ],
)
def test_a_fault_says_file_line_key_and_what_was_expected(text: str, message: str, load: Load) -> None:
    assert fault(load, text).startswith(message)


def test_all_faults_of_a_file_are_told_at_once(load: Load) -> None:
    with pytest.raises(InputError) as failed:
        yamlfile.validate(Whole, load("title: 3\nveiw: cut\nweight: x"))
    everything = "\n".join([str(failed.value), *failed.value.__notes__])
    assert all(key in everything for key in (":1:title", ":2:veiw", ":3:weight"))


def test_a_key_is_named_even_where_no_file_has_lines_for_it() -> None:
    document = Document({"title": "x", "parts": [{"name": "a", "level": "2"}]}, Path("campaign"))
    with pytest.raises(InputError, match=r"campaign:parts\[0\]\.level: "):
        yamlfile.validate(Whole, document)


def test_a_key_pasted_into_options_is_not_printed(load: Load) -> None:
    assert "sk-canary" not in fault(load, "title: x\noptions: api_key=sk-canary")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("title: 腹痛三天\n".encode("gbk"), ":1: is not UTF-8 (it looks like GBK); save it as UTF-8"),
        ("a: x\ntitle: 腹痛\n".encode("gbk"), ":2: is not UTF-8 (it looks like GBK); save it as UTF-8"),
        ("title: 腹痛\n".encode("utf-16"), ": is UTF-16; save it as UTF-8"),
        ("title: 腹痛\n".encode("utf-16-be"), ":"),
        (b"\xfe\xff" + "title: 腹痛\n".encode("utf-16-be"), ": is UTF-16; save it as UTF-8"),
        (b"title: \xff\xff\xff", ":1: is not UTF-8; save it as UTF-8"),
    ],
)
def test_a_file_in_another_encoding_is_named_and_never_read_as_garbage(raw: bytes, message: str, load: Load) -> None:
    assert fault(load, raw).startswith(message)


def test_a_byte_order_mark_from_notepad_does_no_harm(load: Load) -> None:
    assert load("\ufefftitle: 腹痛\r\n").data == {"title": "腹痛"}


@pytest.mark.parametrize("missing", [True, False], ids=["no file", "a folder"])
def test_a_file_that_cannot_be_read_is_named(missing: bool, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=str(tmp_path)):
        yamlfile.load(tmp_path / "none.yaml" if missing else tmp_path)


def test_an_alias_bomb_is_refused_in_no_time(load: Load) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    before = time.perf_counter()
    with pytest.raises(InputError, match="aliases"):
        load("\n".join(lines))
    assert time.perf_counter() - before < 5


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: &x {b: *x}", "[" * 300, "[" * 100_000, "{a: " * 5000])
def test_a_file_nested_without_end_is_an_error_and_not_a_crash(text: str, load: Load) -> None:
    with pytest.raises(InputError, match=r"a\.yaml"):
        load(text)


def test_an_alias_may_be_used_more_than_once(load: Load) -> None:
    assert load("a: &x [1, 2]\nb: *x\nc: [*x, *x]").data == {"a": [1, 2], "b": [1, 2], "c": [[1, 2], [1, 2]]}
