"""From a ranking to diagnoses: the best candidate, what often comes with it, what explains the findings left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from meddc_offline.chart import Chart
from meddc_offline.differential import Candidate, Engine

ENOUGH = 2.0
LINKED_LEAST, LINKED_SHARE, OWN_LEAST = 3.2, 0.28, 2.5
OTHER_LEAST, OTHER_SHARE = 7.5, 0.55
_FEWEST = 2

_TOGETHER = """
肺血栓栓塞症 下肢深静脉血栓形成
缺铁性贫血 溃疡性结肠炎
缺铁性贫血 子宫肌瘤
缺铁性贫血 痔
缺铁性贫血 胃癌
缺铁性贫血 结直肠癌
缺铁性贫血 胃溃疡
缺铁性贫血 十二指肠溃疡
缺铁性贫血 慢性胃炎
缺铁性贫血 克罗恩病
上消化道出血 十二指肠溃疡
上消化道出血 胃溃疡
上消化道出血 肝硬化
上消化道出血 胃癌
肝硬化 酒精性肝病
强直性脊柱炎 前葡萄膜炎
白塞病 前葡萄膜炎
类风湿关节炎 干燥综合征
系统性红斑狼疮 干燥综合征
变应性鼻炎 咳嗽变异性哮喘
变应性鼻炎 支气管哮喘
变应性鼻炎 特应性皮炎
变应性鼻炎 慢性鼻窦炎
支气管哮喘 特应性皮炎
急性胰腺炎 胆囊结石
急性胆囊炎 胆囊结石
急性胆管炎 胆囊结石
心房颤动 慢性心力衰竭
心房颤动 脑梗死
心房颤动 短暂性脑缺血发作
心房颤动 Graves病
急性左心衰竭 急性心肌梗死
急性左心衰竭 高血压病
慢性心力衰竭 高血压病
高血压病 主动脉夹层
高血压病 痛风
高血压病 脑出血
高血压病 脑梗死
高血压病 短暂性脑缺血发作
高血压病 2型糖尿病
高血压病 稳定型心绞痛
高血压病 不稳定型心绞痛
高血压病 急性心肌梗死
高血压病 阻塞性睡眠呼吸暂停
高血压病 慢性肾脏病
慢性肾脏病 2型糖尿病
2型糖尿病 带状疱疹
2型糖尿病 急性肾盂肾炎
2型糖尿病 外阴阴道假丝酵母菌病
2型糖尿病 肩周炎
2型糖尿病 急性心肌梗死
2型糖尿病 不稳定型心绞痛
2型糖尿病 脑梗死
2型糖尿病 阻塞性睡眠呼吸暂停
糖尿病酮症酸中毒 1型糖尿病
糖尿病酮症酸中毒 2型糖尿病
肾病综合征 下肢深静脉血栓形成
抑郁障碍 广泛性焦虑障碍
广泛性焦虑障碍 惊恐障碍
系统性硬化症 间质性肺疾病
皮肌炎 间质性肺疾病
类风湿关节炎 间质性肺疾病
肺结核 结核性胸膜炎
原发性支气管肺癌 慢性阻塞性肺疾病急性加重
急性中耳炎 急性扁桃体炎
巨细胞动脉炎 风湿性多肌痛
骨质疏松症 股骨颈骨折
子痫前期 胎盘早剥
妊娠期糖尿病 子痫前期
子宫内膜异位症 子宫肌瘤
盆腔炎性疾病 细菌性阴道病
胃食管反流病 慢性胃炎
""".strip()


@cache
def companions() -> Mapping[str, frozenset[str]]:
    """Map each disease to those that often accompany it."""
    found: dict[str, set[str]] = {}
    for line in _TOGETHER.splitlines():
        one, other = line.split()
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {name: frozenset(others) for name, others in found.items()}


def conclude(chart: Chart, knowledge: Engine, most: int, ranked: list[Candidate] | None = None) -> list[Candidate]:
    """Choose the diagnoses of a chart, ranked already or not, best first; none when nothing is well enough supported."""
    ranked = knowledge.rank(chart) if ranked is None else ranked
    if not ranked or ranked[0].score < ENOUGH:
        return []
    chosen = [ranked[0]]
    while len(chosen) < most:
        other = _linked(chart, ranked, knowledge, chosen) or _unexplained(chart, knowledge, chosen)
        if other is None:
            break
        chosen.append(other)
    if chart.examined:
        chosen += [Candidate(name, 0.0, key=True) for name in _on_record(chart, knowledge, chosen)]
    return chosen[:most]


def _on_record(chart: Chart, knowledge: Engine, chosen: list[Candidate]) -> list[str]:
    """List diseases that a report states or the patient has: once tests are done, the record names them too."""
    named = {candidate.name for candidate in chosen}
    linked = {name for candidate in chosen for name in companions().get(candidate.name, ())}
    rivals = {name for candidate in chosen for name in knowledge.diseases[candidate.name].siblings} - linked
    return [name for name in dict.fromkeys((*chart.reported, *chart.known)) if name not in rivals | named]


def _linked(chart: Chart, ranked: list[Candidate], knowledge: Engine, chosen: list[Candidate]) -> Candidate | None:
    """Find a well supported companion of a chosen disease."""
    linked = companions().get(chosen[0].name, frozenset())
    rivals = _rivals(knowledge, chosen) - linked
    least = max(LINKED_LEAST, LINKED_SHARE * chosen[0].score)
    for candidate in ranked:
        fits = candidate.name in linked and candidate.name not in rivals and not _taken(candidate, chosen)
        fits = fits and (candidate.name not in chart.known or chart.examined)
        if fits and candidate.key and candidate.score >= least and _own(candidate, knowledge, chosen) >= OWN_LEAST:
            return candidate
    return None


def _own(candidate: Candidate, knowledge: Engine, chosen: list[Candidate]) -> float:
    """Add up the support of a candidate that no chosen disease explains."""
    explained = _explained(knowledge, chosen)
    return sum(points for name, points in candidate.support.items() if name not in explained)


def _unexplained(chart: Chart, knowledge: Engine, chosen: list[Candidate]) -> Candidate | None:
    """Find the best candidate on the findings that the chosen ones leave unexplained."""
    explained = _explained(knowledge, chosen)
    left = {name: strength for name, strength in chart.present.items() if name not in explained}
    rivals = _rivals(knowledge, chosen)
    least = max(OTHER_LEAST, OTHER_SHARE * chosen[0].score)
    for candidate in knowledge.rank(chart, left):
        if candidate.score < least and candidate.name not in chart.reported:
            return None
        if candidate.name in chart.known and not chart.examined:
            continue
        if candidate.key and len(candidate.support) >= _FEWEST and candidate.name not in rivals:
            return candidate
    return None


def _taken(candidate: Candidate, chosen: Iterable[Candidate]) -> bool:
    return any(candidate.name == other.name for other in chosen)


def _explained(knowledge: Engine, chosen: list[Candidate]) -> set[str]:
    names: set[str] = set()
    for candidate in chosen:
        disease = knowledge.diseases[candidate.name]
        names.update(disease.findings)
        names.update(wider for finding in disease.findings for wider in knowledge.lexicon.ancestors(finding))
    return names


def _rivals(knowledge: Engine, chosen: list[Candidate]) -> set[str]:
    rivals: set[str] = set()
    for candidate in chosen:
        rivals.add(candidate.name)
        rivals.update(knowledge.diseases[candidate.name].siblings)
        rivals.update(name for name, disease in knowledge.diseases.items() if candidate.name in disease.siblings)
    return rivals
