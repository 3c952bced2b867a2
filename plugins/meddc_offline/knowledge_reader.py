"""The reader `knowledge`: ranks the diseases of the knowledge files by what the history tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from meddc_bench.contracts import Context, Options, ReaderView
from meddc_bench.records import Reading, Turn
from meddc_bench.text import normalise, polarity
from meddc_offline.chart import Chart, read_chart
from meddc_offline.conclusion import conclude
from meddc_offline.differential import Candidate, engine
from meddc_offline.judging.names import spelt

_LATERAL = frozenset(
    {
        "睾丸扭转",
        "急性附睾炎",
        "输尿管结石",
        "视网膜脱离",
        "视网膜中央动脉阻塞",
        "急性闭角型青光眼",
        "前葡萄膜炎",
        "突发性聋",
        "急性中耳炎",
        "特发性面神经麻痹",
        "三叉神经痛",
        "自发性气胸",
        "结核性胸膜炎",
        "腹股沟疝嵌顿",
        "乳腺癌",
        "急性乳腺炎",
        "股骨颈骨折",
        "股骨头坏死",
        "膝骨关节炎",
        "肩周炎",
        "下肢深静脉血栓形成",
        "卵巢囊肿蒂扭转",
        "急性肾盂肾炎",
        "年龄相关性白内障",
    }
)
_REPORTED = re.compile(
    r"脂肪肝|胆囊结石|肝囊肿|肾囊肿|肾结石|肺气肿|肺结节|甲状腺结节|前列腺增生|颈动脉(粥样)?硬化(斑块形成)?|颈动脉斑块|腔隙性脑梗死"
    r"|慢性(浅表性|非?萎缩性)?胃炎|反流性食管炎|食管裂孔疝|(胃|结肠|直肠|乙状结肠)息肉|肾积水|房间隔缺损|室间隔缺损|卵圆孔未闭"
    r"|([iv一二三123]+(度|°)|(不)?完全性|高度)?(房室|[左右]束支|心?室内)传导阻滞|(频发|偶发)?(多源)?[室房]性(早搏|期前收缩)"
    r"|胸腔积液|脑萎缩|胆囊息肉|肺部感染|肺动脉高压|高脂血症|低钾血症|低钠血症|低蛋白血症|高尿酸血症",
    re.IGNORECASE,
)


_TOLD = re.compile(
    r"(?:超声|彩超|B超|b超|CT|ct|MRI|mri|磁共振|X光|胸片|胃镜|肠镜|造影|化验|检查|报告|体检)[^。；;\n]{0,16}(?:显示|提示|发现|查出|是|有)"
)
_DENIED = re.compile(
    r"(?P<no>没有?|未|从未|无|否认)(?:被)?(?:患(?:有|过|上)?|得过|诊断(?:出|为|过|患有)?(?:过|患有)?|查出(?:来)?(?:过)?)(?:过)?(?=[^。；;\n])"
)
_LISTED = re.compile(r"(?P<no>没有?过?|否认有?)(?P<list>[^，,。；;！!？?\n但有]{1,40})(?<!、)")


class KnowledgeReader:
    """Names the best supported disease, and others that explain findings it leaves unexplained."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def read(self, view: ReaderView) -> Reading:
        """Read a history and give its diagnoses with a short rationale."""
        turns = tuple(_plain(turn) for turn in view.turns)
        chart = read_chart(turns)
        chosen = conclude(chart, engine(), view.top_k)
        names = tuple(with_side(candidate, chart) for candidate in chosen)
        stated = _unnamed(_stated(turns), chosen)
        diagnoses = tuple(dict.fromkeys((*names, *stated)))[: view.top_k]
        return Reading(text=_rationale(chart, chosen, names), diagnoses=diagnoses)


def _plain(turn: Turn) -> Turn:
    """Say a denial plainly: 没有患有甲、乙或丙 as 没有甲或乙或丙."""
    if turn.role == "doctor":
        return turn
    text = _DENIED.sub(lambda match: match["no"] if match["no"] != "未" else "没有", turn.text)
    text = _LISTED.sub(lambda match: match["no"] + match["list"].replace("、", "或"), text)
    if text == turn.text:
        return turn
    return Turn(index=turn.index, round=turn.round, role=turn.role, kind=turn.kind, text=text, media=turn.media)


def _stated(turns: Sequence[Turn]) -> tuple[str, ...]:
    """List the findings of reports that are diagnoses in themselves (脂肪肝, 颈动脉斑块), a patient's word on them too."""
    found: dict[str, None] = {}
    for turn in turns:
        if turn.role == "doctor":
            continue
        text = normalise(turn.text)
        for match in _REPORTED.finditer(text):
            told = turn.role == "reporter" or _TOLD.search(text[max(0, match.start() - 30) : match.start()])
            if told and polarity(text, match.start(), match.end()) == "present":
                found.setdefault(match.group())
    return tuple(name for name in found if not any(name != other and name in other for other in found))


def _unnamed(stated: Sequence[str], chosen: Sequence[Candidate]) -> tuple[str, ...]:
    """Leave out what a chosen disease already says, itself or as a kind of it (肺部感染 beside 肺炎)."""
    lexicon = engine().lexicon
    said = {spelt(name) for one in chosen for name in (one.name, *lexicon.ancestors(one.name))}
    return tuple(name for name in stated if spelt(name) not in said)


def with_side(candidate: Candidate, chart: Chart) -> str:
    """Put the side before the name of a lateral disease when the history states one side throughout."""
    if candidate.name not in _LATERAL:
        return candidate.name
    sides = set(chart.chief_sides) if candidate.support.keys() & chart.chief else set()
    if len(sides) != 1:
        sides = {side for finding in candidate.support for side in chart.sides.get(finding, ())}
    if len(sides) != 1:
        return candidate.name
    side = sides.pop()
    return {"左": "左侧", "右": "右侧"}.get(side, "双侧") + candidate.name


def _rationale(chart: Chart, chosen: list[Candidate], names: tuple[str, ...]) -> str:
    if not chosen:
        return "现有病史不足以支持任何诊断。"
    lines = []
    for candidate, name in zip(chosen, names, strict=True):
        lines.append(f"考虑{name}：{_grounds(candidate.support)}。")
    if denied := sorted(chart.absent)[:6]:
        lines.append(f"否认{'、'.join(denied)}。")
    return "\n".join(lines)


def _grounds(support: Mapping[str, float]) -> str:
    best = sorted(support, key=lambda name: (-round(support[name], 9), name))[:6]
    return f"支持点有{'、'.join(best)}" if best else "检查结果支持"
