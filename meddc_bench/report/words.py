"""What the program's own names are called in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Words:
    """The same said in Chinese and in English."""

    zh: str
    en: str

    def __add__(self, other: Words | str) -> Words:
        """Say one after the other.

        >>> Words("共", "all ") + "3"
        Words(zh='共3', en='all 3')
        """
        zh, en = (other, other) if isinstance(other, str) else (other.zh, other.en)
        return Words(self.zh + zh, self.en + en)


def joined(parts: list[Words], zh: str = "；", en: str = "; ") -> Words:
    """Say several things in a row.

    >>> joined([Words("一", "one"), Words("二", "two")])
    Words(zh='一；二', en='one; two')
    """
    return Words(zh.join(one.zh for one in parts), en.join(one.en for one in parts))


def _named(names: Mapping[str, str] = MappingProxyType({}), **more: str) -> Mapping[str, Words]:
    """Make a table of `name="Chinese|English"`; without English the name itself is the English."""
    parts = {key: value.partition("|") for key, value in {**names, **more}.items()}
    return MappingProxyType({key: Words(zh, en or key) for key, (zh, _, en) in parts.items()})


OUTCOMES = _named(
    scored="已评分|scored",
    policy_failed="被测策略失败|policy failed",
    patient_failed="患者失败|patient failed",
    reader_failed="阅读者失败|reader failed",
    judge_failed="裁判失败|judge failed",
    infra_failed="基础设施失败或未完成|infrastructure failed or not done",
    excluded="不适用|excluded",
)

ENDED = _named(
    diagnosed="给出诊断|diagnosed",
    budget="用完轮数|budget used up",
    deferred="推迟诊断|deferred",
    failed="失败|failed",
)

METRICS = _named(
    D="诊断 D|Diagnosis D",
    T="问诊轨迹 T|Trajectory T",
    E="效率 E|Efficiency E",
    Total="总分 Total|Total",
    D_precision="D 精确率|D precision",
    D_recall="D 召回率|D recall",
    T_precision="T 精确率|T precision",
    T_recall="T 召回率|T recall",
    matched_round="命中轮次|matched round",
    first_summary_round="首次小结轮次|first summary round",
    Acc="准确率 Acc|Accuracy Acc",
    Strict="严格准确率 Strict|Strict accuracy",
    Acc50="证据过半 Acc@50|Acc@50",
    Strict50="证据过半 Strict@50|Strict@50",
    delta_Acc="Acc@50 的相对损失|relative loss of Acc at @50",
    delta_Strict="Strict@50 的相对损失|relative loss of Strict at @50",
    Acc_at_k="多次重复中至少一次准确（ACC@3）|accurate in at least one of 3 repeats (ACC@3)",
    Strict_at_k="多次重复中至少一次严格准确|strictly accurate in at least one of 3 repeats",
    soft_precision="软精确率|soft precision",
    soft_recall="软召回率|soft recall",
    Tversky="Tversky 指数|Tversky index",
    ordering_coverage="开立覆盖率|ordering coverage",
    findings_coverage="结果覆盖率|findings coverage",
    productive_actions="有收获的检查动作|productive actions",
    workup_actions="检查动作|workup actions",
    search_rate="使用检索的比例|search rate",
    invalid_rate="无效动作比例|invalid actions",
    deferral_rate="转交比例|deferral rate",
    modality_catch="成像方式不符的识别率|modality mismatch caught",
    anatomy_catch="部位不符的识别率|anatomy mismatch caught",
    false_alarm="误报率|false alarms",
    rounds="轮数|rounds",
    questions="提问单元|question units",
    volunteered="患者主动说出|volunteered",
    tests_f1="检查 F1|tests F1",
    treatment_f1="治疗 F1|treatment F1",
    medication_f1="用药 F1|medication F1",
    lifestyle_f1="生活方式 F1|lifestyle F1",
    guidance_f1="就医指导 F1|guidance F1",
)

ROLES = _named(
    policy="被测策略|policy",
    patient="患者|patient",
    reader="阅读者|reader",
    judge="裁判|judge",
    importer="导入器|importer",
    environment="环境|environment",
)

VIEWS = _named(
    cut="cut：从最先断言诊断的一轮起截去|cut: the view ends before the first turn that asserts a diagnosis",
    mask="mask：遮去断言诊断的话|mask: the words that assert a diagnosis are hidden",
    full="full：原样保留|full: nothing is taken away",
)

CHECKS = _named(
    {
        "unknown fact": "引用了不存在的事实",
        "no fact behind it": "回答没有事实依据",
        "status against facts": "肯定与否认和事实不符",
        "volunteers much": "一次说出过多",
        "names the diagnosis": "说出了诊断",
        "speaks as the doctor": "以医生口吻说话",
    }
)
"""The checks of the patient's answers."""

EXCLUDED = _named(
    {
        "dropped question": "小结轮次及以后的提问|question in or after the summary round",
        "volunteered target": "患者已主动说出的目标",
        "question without a round": "对不上轮次的提问",
        "unknown prediction id": "裁判给出未知的预测编号",
        "unknown reference id": "裁判给出未知的参考编号",
        "quote not found in the text": "引文在原文中找不到",
        "level": "等级不在规定之内|level outside the step's vocabulary",
    }
)
"""Why a candidate edge does not count."""

FALLBACKS = _named(
    {
        "align_questions: keyword containment": "提问对轮次：改用关键词",
        "volunteered: string check": "主动说出：改用字符串核对",
    }
)
"""What a judge's step fell back on."""

JUDGE_COUNTS = _named(
    {
        "ontology: pairs": "本体：名称对",
        "ontology: both names found": "本体：两名均查到",
        "ontology: fired": "本体：给出下限",
        "ontology: raised": "本体：实际抬高",
        "ontology: abstained": "本体：未给下限",
    }
)
"""What a judge counted of its own work."""

REASONS = _named(
    {
        "not done yet": "尚未完成",
        "no history was imported": "没有导入这份病史",
        "no case has references for it": "没有病例带有它的参考答案",
        "no case has test records": "没有病例带有检查记录",
        "no consultation met a modality probe": "没有问诊遇到成像方式探针",
        "no consultation met an anatomy probe": "没有问诊遇到部位探针",
        "no consultation met a check of clean pictures": "没有问诊遇到对照核对",
        "undefined: nothing to average": "没有可平均的数",
        "the policy has no generator of its own": "被测策略自身没有可用的生成模型",
        "one case: drawing cases again cannot vary it": "只有一个病例，无法重抽样",
        "fewer than two policies": "不足两个策略",
        "fewer than two policies: there is no pair": "不足两个策略|fewer than two policies",
        "fewer than two pairs": "不足两对数值",
        "all values of one side are equal": "一侧的数值全部相同",
        "all scores of one side are equal": "一侧的得分全部相同",
    }
)
"""The program's own reasons, which hold no text of a case."""

VERDICTS = _named(
    supported="一致支持|supported",
    contradicted="相互矛盾|contradicted",
    undecided="不能确定|undecided",
)


def named(table: Mapping[str, Words], name: str) -> Words:
    """Say a name in both languages; one that the program does not know stays as it is."""
    return table.get(name) or Words(name, name)
