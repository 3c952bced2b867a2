"""Pictures: the files agree with their attributes, and reach those who see as images, those who read in words."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meddc_bench import media
from meddc_bench.actions import Call
from meddc_bench.cli import root
from meddc_bench.contracts import Answer, Decoding, Message, PatientView, Reply
from meddc_bench.environments.probes import Donor, bank, donor_picture, draw
from meddc_bench.environments.workup import WorkupEnvironment, WorkupOptions
from meddc_bench.errors import EndpointError, InputError, UsageError
from meddc_bench.fingerprint import derive_seed
from meddc_bench.llm.chat import Chat, Model
from meddc_bench.llm.policy import ChatPolicy
from meddc_bench.llm.session import Session, running
from meddc_bench.pipeline.rollout import Rollout
from meddc_bench.records import Case, History, Media
from meddc_bench.task import Task, TaskIndex, load_task
from meddc_openai.loopback import Loopback

BENCH = Path(__file__).resolve().parents[2] / "bench"


class Mumbles:
    """A patient that answers everything alike."""

    async def answer(self, view: PatientView) -> Answer:
        return Answer("不清楚。", status="not recorded")


@pytest.fixture(scope="module")
def osce() -> Task:
    return TaskIndex().resolve("osce_zh")[0]


def do(name: str, **arguments: Any) -> Reply:
    return Reply(calls=(Call(name, arguments),))


SEES = (
    do("begin_workup"),
    do("order_tests", tests=["影像:内镜", "影像:CT"]),
    do("consult_specialist", department="消化内科"),
    do("consult_specialist", department="影像科"),
    do("gate_verdict"),
    do("gate_verdict", verdict="modality_mismatch", images=["I1"]),
    do("gate_verdict", verdict="consistent"),
    do("final_diagnosis", diagnoses=["胃癌"]),
)


def seed_of(kind: str | None, osce: Task, case: Case) -> int:
    """The run seed under which a case is probed in one way."""
    drawn = (
        (seed, draw(derive_seed(seed, osce.name, case.id, 0, "environment"), 0.5).kind) for seed in itertools.count()
    )
    return next(seed for seed, found in drawn if found == kind)


def rollout(task: Task, *, images: bool, kind: str | None = None, case: Case | None = None, **options: Any) -> Rollout:
    case = case or task.cases[0]
    environment: Any = WorkupEnvironment(WorkupOptions(**options), None)  # type: ignore[arg-type]
    return Rollout(task, case, environment, Mumbles(), run_seed=seed_of(kind, task, case), images=images)


async def consult(one: Rollout) -> tuple[list[tuple[Message, ...]], History]:
    seen = []
    for reply in SEES:
        seen.append(one.view.messages)
        if await one.step(reply):
            break
    return seen, one.history


def files(case: Case) -> dict[str, str]:
    assert case.workup is not None
    return {panel.id: panel.picture.sha256 for panel in case.workup.profile if panel.picture}


# ── the files ────────────────────────────────────────────────────────────────────────────────────


def every(osce: Task) -> Iterator[tuple[Path, str]]:
    yield from ((path, sha256) for sha256, path in osce.media.items())
    yield from ((BENCH.parent / "meddc_bench/environments" / one.picture.file, one.picture.sha256) for one in bank())


def test_every_picture_is_a_small_png_of_its_own_with_the_recorded_bytes(osce: Task) -> None:
    digests = []
    for path, sha256 in every(osce):
        data = media.read(path, sha256)
        assert struct.unpack(">II", data[16:24]) == (192, 192), path
        assert len(data) < 40_000
        digests.append(sha256)
    assert len(digests) == len(set(digests)) > 140


def test_every_pictured_record_and_every_donor_has_a_picture(osce: Task) -> None:
    for case in osce.cases:
        assert case.workup is not None
        assert [one.id for one in case.workup.profile if one.pictured and one.picture is None] == []
    assert all(donor_picture(one.picture.sha256) for one in bank())
    assert donor_picture("0" * 64) is None


def test_a_picture_shows_what_its_attributes_say(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    monkeypatch.syspath_prepend(str(BENCH))
    from pictures.album import cases, differs, donors

    wanted = [*donors(), *cases()][::6]
    assert [one.name for one in wanted if differs(one)] == []
    other = next(one for one in donors() if one.seen.modality == "MRI")
    assert differs(type(other)(other.name, wanted[0].seen, other.path, other.record))
    for name in [name for name in sys.modules if name.partition(".")[0] == "pictures"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def copied(tmp_path: Path, osce: Task) -> Path:
    """A copy of the task with its first case alone."""
    source = osce.path.parent
    folder = tmp_path / "osce"
    (folder / "cases").mkdir(parents=True)
    (folder / "media").mkdir()
    text = (source / "task.yaml").read_text(encoding="utf-8")
    (folder / "task.yaml").write_text(text.replace("../trustmed/", "trustmed/"), encoding="utf-8")
    shutil.copy(source / "cases" / "osce-001.yaml", folder / "cases")
    for file in source.glob("media/osce-001-*"):
        shutil.copy(file, folder / "media")
    return folder / "task.yaml"


def _gone(folder: Path) -> None:
    (folder / "media" / "osce-001-p11.png").unlink()


def _other(folder: Path) -> None:
    (folder / "media" / "osce-001-p11.png").write_bytes((folder / "media" / "osce-001-p10.png").read_bytes())


def _html(folder: Path) -> None:
    page = b"<html>"
    (folder / "media" / "osce-001-p11.png").write_bytes(page)
    _swap(folder, f"p11.png, sha256: {hashlib.sha256(page).hexdigest()}")


def _outside(folder: Path) -> None:
    text = (folder / "cases" / "osce-001.yaml").read_text(encoding="utf-8")
    (folder / "cases" / "osce-001.yaml").write_text(text.replace("media/osce-001-p11", "../x"), encoding="utf-8")


def _swap(folder: Path, new: str) -> None:
    file = folder / "cases" / "osce-001.yaml"
    lines = file.read_text(encoding="utf-8").split("\n")
    lines = [
        f"      picture: {{file: media/osce-001-{new}}}" if "picture: {file: media/osce-001-p11" in line else line
        for line in lines
    ]
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_gone, "osce-001-p11.png: the picture cannot be read: No such file"),
        (_other, "the picture is another than the recorded one"),
        (_html, "is no picture"),
        (_outside, "expected a file below the task's folder"),
    ],
)
def test_a_picture_that_is_missing_or_another_is_a_clear_error(spoil: Any, words: str, copied: Path) -> None:
    assert load_task(copied).media
    spoil(copied.parent)
    with pytest.raises(InputError) as error:
        load_task(copied)
    assert words in str(error.value)
    assert "osce-001.yaml:115:workup.profile[10].picture" in str(error.value)
    if spoil is not _outside:
        assert "case osce-001, record p11" in str(error.value)


def test_a_record_that_cannot_have_a_picture_is_refused_one(osce: Task) -> None:
    from meddc_bench.osce import faults

    case = osce.cases[0]
    assert case.workup is not None
    panels = list(case.workup.profile)
    panels[0] = panels[0].model_copy(update={"picture": panels[9].picture})
    found = faults(case.workup.model_copy(update={"profile": tuple(panels)}), ["胃癌"])
    assert [str(one) for one in found] == [
        "profile[0].picture: only an imaging or pathology record with modality and anatomy has a picture"
    ]


# ── to those who see, and to those who read ──────────────────────────────────────────────────────


async def test_a_policy_that_sees_gets_each_picture_in_the_newest_message_and_no_words_for_it(osce: Task) -> None:
    seen, history = await consult(rollout(osce, images=True))
    pictures = files(osce.cases[0])
    assert [[one.sha256 for one in messages[-1].images] for messages in seen] == [
        [], [], [], [pictures["p10"]], [pictures["p11"]], [pictures["p10"], pictures["p11"]], [], [],
    ]  # fmt: skip
    listing = seen[5][-1].content
    assert "I1｜随报告：电子胃镜" in listing
    assert "图像所示" not in listing
    assert "图像附在消息里" in seen[0][0].content
    assert "【附图·电子胃镜】\n" in seen[3][-1].content
    assert history.turns[-2].media == ()


async def test_a_policy_that_reads_gets_words_that_leak_no_finding(osce: Task) -> None:
    seen, history = await consult(rollout(osce, images=False))
    assert not any(message.images for messages in seen for message in messages)
    assert "I1｜随报告：电子胃镜｜图像所示：成像方式内镜，部位胃，体位直视" in seen[5][-1].content
    assert "【附图·腹部增强CT】成像方式CT，部位腹部，体位轴位" in seen[4][-1].content
    assert "图像附在消息里" not in seen[0][0].content
    case = osce.cases[0]
    assert case.workup is not None
    told = [one for turn in history.turns for one in turn.media]
    findings = [finding.text for panel in case.workup.profile for finding in panel.findings]
    assert len(told) == 4
    for one in told:
        assert one.type == "image/png"
        assert "成像方式" in one.description
        assert "部位" in one.description
        assert not any(word in one.description for text in findings for word in (text, "溃疡", "淋巴结", "增厚"))


async def test_what_a_policy_that_sees_is_shown_says_nowhere_what_a_picture_shows(osce: Task) -> None:
    one = rollout(osce, images=True, kind="modality")
    for reply in SEES[:5]:
        await one.step(reply)
    shown = repr(one.view.turns[-1]) + one.view.messages[-1].content
    assert "成像方式" not in shown.replace("成像方式不符", "").replace("看成像方式和部位", "")
    assert "成像方式" in repr(one.history.turns[-1].media)


async def test_messages_with_pictures_only_grow_and_roles_alternate(osce: Task) -> None:
    seen, _ = await consult(rollout(osce, images=True, kind="anatomy"))
    for before, after in itertools.pairwise(seen):
        assert after[: len(before)] == before
    for messages in seen:
        assert [one.role for one in messages[1:]] == (["user", "assistant"] * 20)[: len(messages) - 1]


async def test_pictures_may_come_at_the_check_alone(osce: Task) -> None:
    seen, _ = await consult(rollout(osce, images=True, pictures="check"))
    assert [len(messages[-1].images) for messages in seen] == [0, 0, 0, 0, 0, 2, 0, 0]


async def test_without_files_of_the_pictures_everyone_is_told_in_words(osce: Task) -> None:
    case = osce.cases[0]
    assert case.workup is not None
    profile = tuple(panel.model_copy(update={"picture": None}) for panel in case.workup.profile)
    bare = case.model_copy(update={"workup": case.workup.model_copy(update={"profile": profile})})
    shown = {}
    for images in (True, False):
        seen, _ = await consult(rollout(osce, images=images, case=bare, kind="modality"))
        assert not any(message.images for messages in seen for message in messages)
        shown[images] = seen[5][-1].content
    assert shown[True] == shown[False]
    assert "图像所示：成像方式" in shown[True]


# ── the exchanged picture ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["modality", "anatomy"])
async def test_the_exchanged_picture_is_the_donors_and_the_replay_is_clean(kind: str, osce: Task) -> None:
    seen, history = await consult(rollout(osce, images=True, kind=kind))
    own = [files(osce.cases[0])[name] for name in ("p10", "p11")]
    first, again = ([one.sha256 for one in seen[at][-1].images] for at in (5, 6))
    assert again == own
    (strange,) = set(first) - set(own)
    donor: Donor = next(one for one in bank() if one.picture.sha256 == strange)
    number = first.index(strange)
    assert len({first[n] == own[n] for n in range(2)}) == 2
    was = ("内镜", "胃") if number == 0 else ("CT", "腹部")
    assert (donor.modality != was[0], donor.anatomy != was[1]) == (kind == "modality", kind == "anatomy")
    assert hashlib.sha256(donor_picture(strange) or b"").hexdigest() == strange
    marks = [mark for note in history.notes.values() for mark in note.marks if mark.startswith("gate:")]
    assert marks[-1] == "gate:clean:passed"
    assert marks[-2].startswith(f"gate:{kind}:")


async def test_those_who_see_and_those_who_read_meet_the_same_exchange(osce: Task) -> None:
    for case in osce.cases[:4]:
        found = []
        for images in (True, False, True):
            one = rollout(osce, images=images, case=case, kind="modality")
            await one.step(do("begin_workup"))
            assert case.workup is not None
            for panel in case.workup.profile:
                if panel.picture:
                    await one.step(do("order_tests", tests=[panel.key]))
            for department in ("影像科", "病理科", "消化内科", "皮肤科", "眼科"):
                await one.step(do("consult_specialist", department=department))
            await one.step(do("gate_verdict"))
            found.append([picture.sha256 for picture in one.history.turns[-1].media])
        assert found[0] == found[1] == found[2]
        assert set(found[0]) - set(files(case).values())


# ── over HTTP ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEDDC_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("meddc_bench.llm.chat.FIRST_WAIT", 0.0)
    with Loopback(keep_bodies=True).serving() as found:
        yield found


def run(server: Loopback, folder: Path, *more: str) -> Any:
    script = [json.dumps({"action": one.calls[0].name, **one.calls[0].arguments}, ensure_ascii=False) for one in SEES]
    server.script("doctor", *script)
    words = ["run", "--tasks", "osce_zh", "--policy", "openai", "--policy-args", f"model=doctor,base_url={server.url}"]
    for one in more:
        words += ["--policy-args", one]
    return CliRunner().invoke(root, [*words, "--limit", "1", "--repeats", "1", "-o", str(folder)])


def images(body: dict[str, Any]) -> list[bytes]:
    parts = [part for one in body["messages"] if isinstance(one["content"], list) for part in one["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def test_an_endpoint_gets_the_exact_bytes_of_the_pictures(server: Loopback, tmp_path: Path, osce: Task) -> None:
    done = run(server, tmp_path / "r", "images=true")
    assert done.exit_code == 0, done.output
    sent = [images(body) for body in server.bodies if body["model"] == "doctor"]
    own = [osce.media[files(osce.cases[0])[name]].read_bytes() for name in ("p10", "p11")]
    assert sent[:5] == [[], [], [], own[:1], own]
    assert [len(one) for one in sent] == sorted(len(one) for one in sent)
    donors = {donor_picture(one.picture.sha256) for one in bank()}
    assert all(data in {*own, *donors} for one in sent for data in one)
    newest = server.bodies[4]["messages"][-1]["content"]
    assert [part["type"] for part in newest] == ["text", "text", "image_url"]
    assert newest[1]["text"] == "【附图·腹部增强CT】"
    line = (tmp_path / "r" / "histories.jsonl").read_text(encoding="utf-8")
    assert files(osce.cases[0])["p10"] in line
    assert "base64" not in line
    requests = server.counts["requests"]
    again = run(server, tmp_path / "r", "images=true")
    assert again.exit_code == 0
    assert server.counts["requests"] == requests


def test_an_endpoint_whose_model_does_not_see_gets_words_alone(server: Loopback, tmp_path: Path) -> None:
    done = run(server, tmp_path / "r")
    assert done.exit_code == 0, done.output
    assert all(isinstance(one["content"], str) for body in server.bodies for one in body["messages"])
    assert "图像所示：成像方式" in json.dumps(server.bodies, ensure_ascii=False)


def _chat(url: str, files: dict[str, bytes]) -> Chat:
    from meddc_openai.adapters import Endpoint

    return Chat(Model("doctor", url, "policy"), url, lambda session: Endpoint(url, "", session), files.__getitem__)


async def test_other_bytes_of_a_picture_are_another_call(server: Loopback, tmp_path: Path) -> None:
    message = Message("user", "看图。", (Media(sha256="a", type="image/png", label="I1"),))
    session = Session(folder=tmp_path)
    with running(session):
        for data in (b"one", b"one", b"two"):
            await _chat(server.url, {"a": data}).generate([message], Decoding(), seed=1)
        await session.aclose()
    assert (server.counts["requests"], session.cached) == (2, 1)


async def test_a_server_that_refuses_pictures_is_quoted_with_what_to_do(server: Loopback) -> None:
    from aiohttp import web

    refusal = web.json_response({"error": {"message": "image_url is not supported"}}, status=400)
    server.script("doctor", refusal)
    message = Message("user", "看图。", (Media(sha256="a", type="image/png", label="I1"),))
    policy = ChatPolicy(_chat(server.url, {"a": b"x"}), Decoding(), images=True)

    class View:
        menu, turns, seed, messages = (), (), 0, (message,)

    session = Session()
    with running(session), pytest.raises(EndpointError, match=r"image_url is not supported .*set its option images"):
        await policy.act(View())  # type: ignore[arg-type]
    await session.aclose()


def test_only_a_policy_gets_pictures_and_one_that_nobody_has_is_a_clear_error(installed: Any) -> None:
    from meddc_bench.campaign import build
    from meddc_bench.plan import build_benches
    from meddc_bench.wiring import Adapter, _Context

    plain = Adapter(installed, "policy", "checklist", "checklist", {})
    assert not plain.takes_images
    context = _Context(installed, "mine", [], plain._secrets, None)
    with pytest.raises(UsageError, match="only policies get pictures"):
        context.media("0" * 64)
    (task,) = TaskIndex().resolve("osce_zh")
    campaign = build({"tasks": ("osce_zh",), "policies": ({"name": "workup", "label": "workup"},)})
    (bench,) = build_benches(campaign, installed, [task])
    find = bench.policies[0]._media
    assert find is not None
    (sha256, path), *_ = task.media.items()
    assert find(sha256) == path.read_bytes()
    assert find(bank()[0].picture.sha256).startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="no task of this run has a picture"):
        find("0" * 64)


def test_an_engine_in_this_process_says_that_it_takes_no_pictures() -> None:
    from pydantic import ValidationError

    from meddc_vllm.adapters import PolicyOptions

    with pytest.raises(ValidationError, match="vllm serve"):
        PolicyOptions(model="some/model", images=True)
    assert "images" not in PolicyOptions(model="some/model").model_dump()
