"""The words by which the gold linter tells doubt, symptoms and procedures from diseases, for Chinese and English."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rules:
    """Patterns of one language: `lead` comes before a diagnosis, `unsure` after one takes it back."""

    alternatives: re.Pattern[str]
    hedge: re.Pattern[str]
    unsure: re.Pattern[str]
    symptom: re.Pattern[str]
    procedure: re.Pattern[str]
    unnamed: re.Pattern[str]
    lead: re.Pattern[str]
    names: dict[str, str] = field(default_factory=dict)


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_SYMPTOMS_EN = (
    "constipation|diarrhea|fever|cough|headaches?|dizziness|vertigo|nausea|vomiting|fatigue|weakness|rash|"
    "itch(?:ing)?|pruritus|"
    "bleeding|bloody stools?|hematochezia|hematuria|swelling|edema|palpitations?|insomnia|bloating|"
    "abdominal distension|indigestion|"
    "flatulence|belching|hiccups?|heartburn|dyspnea|shortness of breath|syncope|weight loss|jaundice|"
    "(?:[a-z]+ )?(?:pain|ache|cramps?|"
    "discomfort|distension|spasms?)|stomachache|sore throat|loss of appetite|numbness|dehydration"
)

EN = Rules(
    alternatives=_rule(r"\bor\b|\bversus\b|\bvs\b"),
    hedge=_rule(
        r"\b(?:likely|probabl[ey]|possibl[ey]|possibility|may|might|could|appears?|seems?|suspect(?:ed|s)?|"
        r"suggest(?:s|ive|ing)?|consistent with|"
        r"rule out|ruled out|presumed|potential(?:ly)?|perhaps|unclear|cannot exclude)\b|\?"
    ),
    unsure=_rule(
        r"\b(?:needed|necessary|required|recommended|should be done)\b[^.]*\b(?:confirm|definitive|"
        r"exact diagnosis|rule out)|"
        r"\b(?:to|would) confirm\b|further (?:tests?|evaluation|examination)\b"
    ),
    symptom=_rule(
        rf"(?:mild |severe |acute |chronic |recurrent |functional )*(?:abdominal |chest |back |stomach |lower |"
        rf"upper |left |right )*(?:{_SYMPTOMS_EN})"
    ),
    procedure=_rule(
        r"\b(?:biops(?:y|ies)|surgery|surgical|operation|\w+ectomy|\w+otomy|\w+ostomy|\w+plasty|\w+scopy|excision|"
        r"resection|transplant(?:ation)?|"
        r"ablation|catheteri[sz]ation|bypass|chemotherapy|radiotherapy|phototherapy|vaccination|therapy|treatment|"
        r"reassurance|observation|"
        r"follow[- ]up|CT|MRI|x-?ray|ultrasound|culture|smear|screening|test(?:ing)?|administration)\b|"
        r"^(?:obtain|begin|start|stop|discontinue|administer|perform|order|refer|reassure|repeat|increase|"
        r"decrease|counsel|prescribe|give)\b"
    ),
    unnamed=_rule(
        r"\bside effects?\b|\bthis condition\b|\bthese symptoms\b|\bnormal\b|^(?:it|this|that|some|issues?|"
        r"problems?|condition)\b|"
        r"\bsymptoms? of\b|\bhistory of\b|\b(?:you|your|our|we)\b"
    ),
    lead=_rule(
        r"(?:\b(?:the|my|your) (?:most likely |likely |final |current |primary )?diagnosis (?:is|was|"
        r"would be)(?: likely| probably| most likely)?|"
        r"\b(?:it|this) (?:is|could be|may be|might be|seems? (?:like|to be)|appears? to be)(?: likely| probably)?|"
        r"\b(?:you|he|she|they|the patient|(?:your|the) \w+|who)\b(?: (?:most )?(?:likely|probably|possibly|"
        r"currently|clearly|may|might|could|appears? to|seems? to|be|is|are|"
        r"have been|has been|had been))* (?:have caught|has caught|caught|have been diagnosed with|"
        r"has been diagnosed with|diagnosed with|have|has|"
        r"suffer(?:s|ing)? from|experienc(?:e|es|ing)|developed|with|diagnose you with)|"
        r"\bi (?:have )?diagnosed? (?:you )?(?:with|as)|\bdiagnosis:)\s+"
    ),
    names={"cold": "common cold", "stomach ulcer": "gastric ulcer", "flu": "influenza"},
)

_SYMPTOMS_ZH = (
    "发[热烧]|低热|高热|[头腹胸腰背胃肩颈关节膝咽]{1,3}[痛疼胀]|(?:上|下|右上|右下|左上|左下)?腹痛|腹泻|便秘|"
    "便血|黑便|血便|呕吐|恶心|呕血|咯血|咳嗽|咳痰|气[短促喘]|"
    "呼吸困难|胸闷|心悸|头晕|眩晕|晕厥|乏力|水肿|浮肿|黄疸|血尿|尿频|尿急|尿痛|皮疹|瘙痒|抽搐|昏迷|失眠|消瘦|"
    "纳差|消化不良|食欲不振|包块|肿物|疼痛|出血|腹胀|反酸|烧心"
)

ZH = Rules(
    alternatives=re.compile(r"或(?!然)|还是|\bvs\b|/(?!L)"),
    hedge=re.compile(
        r"可能|待查|待排|待[定除]|待明确|不除外|不能除外|除外|考虑|疑似|可疑|怀疑|疑诊|拟诊|倾向|[?？]|首先[考想]|"
        r"查因|原因未明|原因不明|性质待"
    ),
    unsure=re.compile(r"需进一步|有待|尚不能"),
    symptom=re.compile(rf"(?:急性|慢性|反复|间断|剧烈|阵发性)?(?:{_SYMPTOMS_ZH})(?:原因)?"),
    procedure=re.compile(
        r"(?:手术|切除术?|修补术?|置换术?|移植术?|成形术?|穿刺术?|引流术?|吻合术?|固定术?|造影|检查|活检|化疗|"
        r"放疗|治疗|监测|管理|护理|术)$|术后$"
    ),
    unnamed=re.compile(r"^(?:无|正常|未见异常|不详|见上|同上|略|诊断|明确|健康体检)$|分析|依据|[。！!]"),
    lead=re.compile(
        r"^(?:(?:该|本例|此)?(?:患者|病人)(?:的)?)?(?:最可能的?|目前|初步|临床|入院|出院|最后|最终|"
        r"主要)*诊断(?:结果|意见)?(?:为|是|[:：])?\s*"
    ),
)

_ASKED_EN = _rule(
    r"\bdiagnos[ie]s\b|most likely (?:condition|disease|disorder|illness)\b|(?:condition|disease|"
    r"disorder) does (?:this|the) "
)
_OTHER_EN = _rule(
    r"confirm|establish|(?:next|best|first|initial|appropriate) (?:\w+ )?(?:step|test|study|management|treatment|"
    r"course)|to diagnose|mechanism|"
    r"\brisk|complication|associated with|prognos|prevent|gene\b|finding|treat|managed?\b|physiolog|etiolog|"
    r"pathogen|organism|exclude|rule out|side effect"
)
_ASKED_ZH = re.compile(r"诊断|患(?:了|有)?(?:何|什么)(?:种)?(?:疾?病)|(?:何|什么)(?:疾)?病")
_OTHER_ZH = re.compile(
    r"鉴别诊断(?:要点)?|如何(?:明确)?诊断|怎样诊断|诊断(?:方法|要点|标准|措施|手段|检查|价值)|(?:明确|确[定立]|"
    r"有助于|协助|进一步)诊断|诊断是否|是否诊断|检查"
)


def asked(question: str, language: str) -> bool:
    """Say whether a question asks for a diagnosis and not for what surrounds one."""
    if language == "zh":
        return _ASKED_ZH.search(_OTHER_ZH.sub("", question)) is not None
    return _ASKED_EN.search(question) is not None and _OTHER_EN.search(question) is None
