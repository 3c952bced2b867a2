"""What the reporter of a workup says: fixed sentences, filled with names of the catalogue and texts of the case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from meddc_bench.environments.catalogue import Entry
from meddc_bench.environments.library import Passage
from meddc_bench.environments.probes import Picture
from meddc_bench.osce import Panel
from meddc_bench.text import one_line

SIDES = {"left": "左", "right": "右", "bilateral": "双侧", "midline": "正中"}
NOT_UNDERSTOOD = "没有识别出可执行的操作，本轮作废。"
REPEATED = "这些问题刚才都已经问过，患者不再重复回答，本轮作废。"
WORKUP_BEGINS = "问诊结束，进入检查阶段。"
NO_ITEM = "没有写出任何项目，本轮作废。"
NO_LIBRARY = "本任务没有接入可检索的资料，没有返回任何内容。"
NO_SEARCH_LEFT = "检索次数已用完，本轮作废。"
NO_QUERY = "没有写出检索词，本轮作废。"
WORKUP_OVER = "检查轮次已用完，检查结束。"
NOTHING_TO_CHECK = "没有收到影像资料，不需要核对，请给出结论。"
CHECK_PICTURES = "请核对收到的影像资料与所附报告是否相符："
CHECKED = "核对结论已记录。"
SENT_AGAIN = "相关科室重新传送了影像资料，请再核对一次。"
CONCLUDE = "请给出结论。"
NO_VERDICT = "没有给出有效的核对结论。"
ONCE_MORE = "请再答一次，这是最后一次机会。"
NO_DIAGNOSIS = "没有给出结论。现在只能给出最终诊断，或转交上级医生。"
EXAMINATION, TEST, DEPARTMENT = "查体项目", "检查项目", "科室"
BLANK = "（空白）"
_PHASES = {"history": "问诊", "workup": "检查", "integrity": "影像核对", "conclusion": "结论"}
_WORDS = {
    "begin_workup": "开始检查",
    "physical_examination": "体格检查",
    "order_tests": "开立检查",
    "consult_specialist": "会诊",
    "search": "检索",
    "gate_verdict": "影像核对",
    "defer_to_human": "转交上级医生",
    "final_diagnosis": "最终诊断",
}


def in_words(name: str, values: Sequence[str]) -> str:
    """Write an action as a doctor's line: 开立检查：CT；血常规。"""
    said = _WORDS.get(name, name)
    return f"{said}：{'；'.join(values)}。" if values else f"{said}。"


def not_now(name: str, phase: str) -> str:
    """Say that an action does not belong to this phase."""
    return f"现在是{_PHASES[phase]}阶段，不能执行 {name}，本轮作废。"


def unknown(name: str, what: str) -> str:
    """Say that the catalogue has no such name."""
    return f"目录中没有{what}“{name}”。"


def ambiguous(name: str, between: Sequence[Entry]) -> str:
    """Say which entries a name may mean."""
    return f"“{name}”不够明确，请写明是{'还是'.join(one.label for one in between)}。"


def too_many(most: int, dropped: int) -> str:
    """Say that the items over the limit were not taken."""
    return f"一次最多 {most} 项，多出的 {dropped} 项没有执行。"


def examined(entry: Entry, panels: Sequence[Panel]) -> str:
    """Report a physical examination; what has no record is said to have none, never taken as normal."""
    if not panels:
        return f"【查体·{entry.zh}】本例没有该项记录，不能视为正常。"
    return "\n".join(f"【查体·{entry.zh}】{_findings(panel)}" for panel in panels)


def examined_before(entry: Entry) -> str:
    return f"【查体·{entry.zh}】已经查过，不再重复。"


def ordered(entry: Entry) -> str:
    return f"【申请·{entry.label}】已受理，等待相应科室出具报告。"


def ordered_before(entry: Entry, reported: bool) -> str:
    return f"【申请·{entry.label}】{'报告已出' if reported else '已经申请'}，不再重复。"


def unavailable(entry: Entry) -> str:
    return f"【申请·{entry.label}】本例没有该项检查资料，无法提供结果，不能视为正常。"


def report(department: Entry, panel: Panel) -> str:
    """Write a record's report: what was done, where the findings come from, and the findings."""
    source = "，".join(
        part
        for part in (
            panel.modality, panel.anatomy, panel.view, SIDES.get(panel.laterality or ""),
            panel.stain and f"{panel.stain}染色",
        )
        if part
    )  # fmt: skip
    return f"【{department.zh}报告·{panel.title}】{f'（{source}）' if source else ''}{_findings(panel)}"


def wrong_department(department: Entry, entry: Entry) -> str:
    return f"【{department.zh}】不出具{entry.label}的报告，申请仍然有效。"


def not_ordered(department: Entry, entry: Entry) -> str:
    return f"【{department.zh}】{entry.label}尚未申请，没有报告。"


def reported_before(department: Entry, entry: Entry) -> str:
    return f"【{department.zh}】{entry.label}的报告已经给出，不再重复。"


def nothing_pending(department: Entry) -> str:
    return f"【{department.zh}】没有等待出具的报告。"


def attached(panel: Panel) -> str:
    """Announce the picture that comes with a report."""
    return f"【附图·{panel.title}】"


def depicted(one: Picture) -> str:
    """Say what kind of picture one is; nothing of what is found on it."""
    shown = [f"成像方式{one.modality}", f"部位{one.anatomy}"]
    shown += [f"体位{one.view}"] if one.view else []
    shown += [f"侧别{SIDES[one.laterality]}"] if one.laterality else []
    shown += [f"染色{one.stain}"] if one.stain else []
    return "，".join(shown)


def announced(one: Picture) -> str:
    """Announce a picture to check: its number, and the record it came with."""
    return f"{one.number}｜随报告：{one.title}"


def in_place(one: Picture) -> str:
    """Write what stands for a picture where there are only words."""
    return f"{announced(one)}｜图像所示：{depicted(one)}"


def listing(shown: Iterable[Picture]) -> str:
    """List the pictures to check in words alone."""
    return "\n".join([CHECK_PICTURES, *(in_place(one) for one in shown)])


def found(query: str, passages: Sequence[Passage], most: int) -> str:
    """Give what a search found, each passage on a line of at most so many characters; it cannot look like a report."""
    if not passages:
        return f"【检索】“{_plain(query, 40)}”没有找到资料。"
    lines = [f"【检索】“{_plain(query, 40)}”找到 {len(passages)} 条资料："]
    for number, one in enumerate(passages, 1):
        title = f"《{_plain(one.title, 60)}》" if one.title.strip() else ""
        lines.append(f"{number}. {title}{_plain(one.text, most)}")
    return "\n".join(lines)


def _plain(text: str, most: int) -> str:
    return one_line(text, most).replace("【", "〔").replace("】", "〕").replace("｜", "|")


def _findings(panel: Panel) -> str:
    return "；".join(finding.text.rstrip("。；;") for finding in panel.findings) + "。"
