"""The policy `workup`: asks, examines, orders by complaint, sends to departments, checks the pictures, concludes or defers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from meddc_bench.contracts import Call, Context, Options, PolicyView, Reply
from meddc_bench.records import Turn
from meddc_offline.checklist import may_ask, per_turn
from meddc_offline.conclusion import conclude
from meddc_offline.differential import Candidate, engine
from meddc_offline.interview import Follower
from meddc_offline.knowledge_reader import with_side

_A_TURN = 4
_MOST_DIAGNOSES = 3
_WEAKEST = 1.0
_LEADING = 4

_FIRST_EXAMINED = ("生命体征", "一般情况")
_EXAMINED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"眼|视|看东西|重影|眼皮", ("眼", "神经系统")),
    (r"胸|心慌|心悸|气短|憋|咳|喘", ("心血管系统", "呼吸系统", "颈部", "四肢")),
    (r"腹|肚|胃|恶心|吐|便|拉|吃不下|咽", ("腹部", "直肠指检", "淋巴结")),
    (r"尿|小便|腰", ("泌尿生殖系统", "四肢", "骨骼肌肉系统")),
    (r"关节|脚|手指|腿|膝|背|骨", ("骨骼肌肉系统", "四肢", "耳")),
    (r"皮|疹|红斑|痒", ("皮肤", "口腔咽喉")),
    (r"头|晕|抽|麻|没劲|无力|抖", ("神经系统", "颈部")),
    (r"乳房|乳腺|疙瘩|肿块", ("乳房", "淋巴结")),
    (r"脖子|怕热|瘦", ("颈部", "眼")),
    (r"发烧|发热|低烧|出血|嗓子", ("淋巴结", "口腔咽喉", "皮肤")),
)
"""Regions to examine by what the patient complains of."""

_FIRST_ORDERED = ("检验:血液学", "检验:临床生化", "检验:尿液分析", "功能:心血管功能检查")
_ORDERED: tuple[tuple[str, str], ...] = (
    (r"冠状动脉造影|冠脉造影|DSA|血管造影", "影像:血管造影"),
    (r"心脏超声|超声心动|心脏彩超", "功能:超声心动图"),
    (r"CT|CTA", "影像:CT"),
    (r"MRI|磁共振", "影像:磁共振"),
    (r"钼靶|乳腺X线", "影像:其他影像"),
    (r"胸片|X线|平片|摄片", "影像:X线平片"),
    (r"超声|彩超|B超", "影像:超声"),
    (r"胃镜|肠镜|内镜", "影像:内镜"),
    (r"摄碘|骨扫描|核素|PET|ECT", "影像:核医学"),
    (r"眼底照相|眼底", "影像:眼科照相"),
    (r"眼压|房角|视野|裂隙灯|视力", "功能:眼科检查"),
    (r"心电图|动态血压|Holter|运动负荷", "功能:心血管功能检查"),
    (r"肌电|重复神经|神经电|脑电", "功能:神经电生理"),
    (r"新斯的明|激发", "功能:其他功能检查"),
    (r"肺功能|支气管", "功能:肺功能"),
    (r"量表|MMSE", "功能:心理测验"),
    (r"骨髓", "病理:骨髓检查"),
    (r"细针|细胞学|关节液", "病理:细胞病理"),
    (r"免疫荧光", "病理:直接免疫荧光"),
    (r"活检|病理|穿刺", "病理:组织病理"),
    (r"甲状腺功能|甲功|激素|皮质醇", "检验:内分泌学"),
    (r"抗体|补体|免疫|C反应蛋白|风湿", "检验:免疫学"),
    (r"凝血|D-二聚体|D二聚体", "检验:凝血"),
    (r"肿瘤标志", "检验:肿瘤标志物"),
    (r"培养|涂片|病原|结核|幽门", "检验:微生物学"),
    (r"便|脑脊液|胸水", "检验:一般检验"),
    (r"流式", "检验:流式细胞术"),
    (r"基因", "检验:分子遗传学"),
)
"""Catalogue labels by the tests that the knowledge files name."""

_CONFIRMED: tuple[tuple[str, str], ...] = (
    (r"影像:内镜】已受理|肿块|占位|溃疡", "病理:组织病理"),
    (r"单克隆|骨质|幼稚|贫血貌", "病理:骨髓检查"),
    (r"尿蛋白|管型|变形红细胞", "病理:直接免疫荧光"),
    (r"尿蛋白|管型|变形红细胞", "病理:组织病理"),
    (r"尿蛋白|红斑|关节|肌力", "检验:免疫学"),
    (r"肿块|消瘦|淋巴结.{0,12}质硬", "检验:肿瘤标志物"),
)
"""Tests that what was found so far calls for."""

_ROUTES: Mapping[str, str] = {
    "影像:内镜": "消化内科",
    "影像:眼科照相": "眼科",
    "影像:体表照相": "皮肤科",
    "功能:心血管功能检查": "心内科",
    "功能:超声心动图": "心内科",
    "功能:肺功能": "心内科",
    "功能:神经电生理": "神经内科",
    "功能:其他功能检查": "神经内科",
    "功能:心理测验": "神经内科",
    "功能:眼科检查": "眼科",
}
_BY_CATEGORY: Mapping[str, str] = {"影像": "影像科", "检验": "检验科", "病理": "病理科"}
_ACCEPTED = re.compile(r"【申请·(?P<label>[^】]+)】已受理")
_REPORT = re.compile(r"报告·(?P<title>[^】]+)】（(?P<source>[^）]+)）")
_PICTURE = re.compile(
    r"(?P<number>I\d+)｜随报告：(?P<title>[^｜]+)｜图像所示：成像方式(?P<modality>[^，\n]+)，部位(?P<anatomy>[^，\n]+)"
)


class WorkupDoctor:
    """Plans every turn from the turns alone: the same turns have the same plan."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def start(self, view: PolicyView) -> _Consultation:
        """Begin a consultation, in which each turn is read once."""
        return _Consultation()

    async def act(self, view: PolicyView) -> Reply:
        """Do what the phase asks for."""
        return await _Consultation().act(view)


class _Consultation:
    """One consultation with the doctor."""

    def __init__(self) -> None:
        self._follower = Follower()

    async def act(self, view: PolicyView) -> Reply:
        """Do what the phase asks for; in a consultation without a workup, diagnose when nothing is worth asking."""
        offered = {item.name for item in view.menu}
        if "ask" in offered and may_ask(view):
            chosen = self._follower.interview(view.turns).choose(per_turn(view))
            if chosen:
                return Reply(text="".join(item.text for item in chosen))
        if "begin_workup" in offered:
            return _call("begin_workup")
        if view.phase == "workup":
            return _work_up(view, self._follower)
        if view.phase == "integrity":
            return _verdict(view.turns)
        name = "final_diagnosis" if "final_diagnosis" in offered else "diagnose"
        return _conclusion(view.turns, self._follower, name)


def _call(name: str, **arguments: Any) -> Reply:
    return Reply(calls=(Call(name, arguments),))


# ── workup ───────────────────────────────────────────────────────────────────────────────────────


def _work_up(view: PolicyView, follower: Follower) -> Reply:
    done = _done(view.turns)
    pending = _pending(view.turns, done["consult_specialist"])
    left = view.budgets["workup"].left
    if pending and left <= len({_department(label) for label in pending}) + 1:
        return _consult(pending)
    if not done["order_tests"]:
        regions = [name for name in _regions(view.turns) if name not in done["physical_examination"]]
        if regions and len(done["physical_examination"]) < 2 * _A_TURN:
            return _call("physical_examination", examinations=regions[:_A_TURN])
    if pending and done["order_tests"]:
        return _consult(pending)
    orders = [label for label in _tests(view.turns, follower) if label not in done["order_tests"]]
    if not done["order_tests"] or (orders and left > 2):
        return _call("order_tests", tests=orders[:_A_TURN])
    return _call("gate_verdict")


def _done(turns: Sequence[Turn]) -> Mapping[str, list[str]]:
    """List what was already examined, ordered and reported."""
    done: dict[str, list[str]] = {"physical_examination": [], "order_tests": [], "consult_specialist": []}
    keys = {"physical_examination": "examinations", "order_tests": "tests", "consult_specialist": "tests"}
    for turn in turns:
        if turn.action is not None and turn.action.name in done:
            done[turn.action.name] += turn.action.arguments.get(keys[turn.action.name]) or []
    return done


def _pending(turns: Sequence[Turn], reported: Iterable[str]) -> list[str]:
    """List the tests that were accepted and not yet sent to a department."""
    accepted = [label for turn in turns if turn.role == "reporter" for label in _accepted(turn.text)]
    return [label for label in dict.fromkeys(accepted) if label not in set(reported)]


@lru_cache(maxsize=4096)
def _accepted(text: str) -> tuple[str, ...]:
    return tuple(found["label"] for found in _ACCEPTED.finditer(text))


def _department(label: str) -> str:
    return _ROUTES.get(label) or _BY_CATEGORY.get(label.partition(":")[0], "检验科")


def _consult(pending: Sequence[str]) -> Reply:
    department = _department(pending[0])
    tests = [label for label in pending if _department(label) == department]
    return _call("consult_specialist", department=department, tests=tests[:_A_TURN])


def _regions(turns: Sequence[Turn]) -> list[str]:
    """Choose the regions to examine from what the patient says, those of the opening first."""
    said = [turn.text for turn in turns if turn.role == "patient"]
    found = list(_FIRST_EXAMINED)
    for text in (*said[:1], "。".join(said[1:])):
        found += [name for pattern, names in _EXAMINED if re.search(pattern, text) for name in names]
    return list(dict.fromkeys(found))


def _tests(turns: Sequence[Turn], follower: Follower) -> list[str]:
    """Choose tests: the basic ones, those of the leading diseases, and what the findings call for."""
    leading = follower.interview(turns).ranked[:_LEADING]
    found = [_label(test) for one in leading for test in engine().diseases[one.name].tests]
    told = "\n".join(turn.text for turn in turns if turn.role == "reporter")
    called = [label for pattern, label in _CONFIRMED if re.search(pattern, told)]
    return [label for label in dict.fromkeys((*_FIRST_ORDERED, *found, *called)) if label]


@lru_cache(maxsize=4096)
def _label(test: str) -> str:
    """Give the catalogue's label of a test that the knowledge files name, "" where it has none."""
    return next((label for pattern, label in _ORDERED if re.search(pattern, test)), "")


# ── integrity check and conclusion ───────────────────────────────────────────────────────────────


def _verdict(turns: Sequence[Turn]) -> Reply:
    """Compare the newest listing of pictures with the sources that the reports named."""
    reporter = [turn.text for turn in turns if turn.role == "reporter"]
    sources = {found["title"]: found["source"].split("，") for text in reporter for found in _REPORT.finditer(text)}
    for one in _PICTURE.finditer(next((text for text in reversed(reporter) if _PICTURE.search(text)), "")):
        source = sources.get(one["title"], [])
        if source and one["modality"] not in source:
            return _call("gate_verdict", verdict="modality_mismatch", images=[one["number"]])
        if source and one["anatomy"] not in source:
            return _call("gate_verdict", verdict="anatomy_mismatch", images=[one["number"]])
    return _call("gate_verdict", verdict="consistent")


def _conclusion(turns: Sequence[Turn], follower: Follower, name: str) -> Reply:
    """Give the diagnoses that history and reports support; defer when they support none."""
    interview = follower.interview([turn for turn in turns if not _listing(turn)])
    chart = interview.chart
    chosen = conclude(chart, engine(), _MOST_DIAGNOSES, interview.ranked) or _alone(interview.ranked)
    if not chosen and name == "final_diagnosis":
        return _call("defer_to_human", reason="现有病史和检查不足以支持任何诊断")
    return _call(name, diagnoses=[with_side(one, chart) for one in chosen])


def _alone(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Return a weakly supported disease that no other comes near: after a whole workup it is named, not passed on."""
    scores = [one.score for one in ranked[:2]] + [0.0, 0.0]
    return list(ranked[:1]) if scores[0] >= _WEAKEST and scores[0] >= 2 * scores[1] else []


def _listing(turn: Turn) -> bool:
    return turn.role == "reporter" and _PICTURE.search(turn.text) is not None
