"""Cuts a Chinese history (现病史 ...) into what a patient knows, and tells it from what was found on examination."""

from __future__ import annotations

import re
from collections.abc import Iterator

from meddc_importers.draft import Told
from meddc_importers.needs import need_of

_SENTENCE = re.compile(r"[。；;！!\n]+")
_COMMA = re.compile(r"，|(?<!\d),|,(?!\d)")
_HEAD = re.compile(
    r"^\s*(?:[（(]?\d{1,2}[）).、]|[①-⑳])?\s*(?:病史摘要|主诉|现病史|既往史|个人史|家族史|婚育史|月经史|过敏史|"
    r"一般情况)?\s*[:：]?\s*"
)
_WHO = re.compile(
    r"^(?:该)?(?:男性|女性)?(?:病人|患者|病儿|患儿|患婴|产妇|孕妇)(?:于|在)?(?:自诉|自述|诉|自觉|"
    r"自发病以来)?(?=.)|^(?:自诉|自述|诉)(?=.)"
)
_NAMED = re.compile(r"^[一-鿿]?(?:[Xx×*＊某]{1,3})$|^[一-鿿]{1,2}某某?$")
_IDENTITY = re.compile(
    r"^(?:病人|患者|患儿|病儿)$|^(?:(?:病人|患者|患儿|病儿)[，,]?)?(?:(?:男|女)(?:性|婴|孩)?(?:病人|患者|病儿|"
    r"患儿)?|(?:年龄)?\d{1,3}(?:周?岁|个?月|天)(?:余)?(?:的)?(?:男|女)?性?|(?:男|女)[/／]\d{1,3}\s*[yY岁])$"
)
_TIME = re.compile(
    r"^(?:(?:入院|就诊|来院|发病|手术|术)?(?:前|后)?(?:约|近|"
    r"于)?[\d一二三四五六七八九十两半数几]+余?多?个?(?:小时|天|日|周|月|年)余?(?:前|后|来|以来)?|"
    r"(?:此|其|之|今)后|近(?:日|来|期)|当时|同时|(?:自)?(?:发病|起病|患病)(?:以)?来|病程中|期间|今晨|昨[日晚]|"
    r"[^，]{2,14}时)$"
)
_FINDING = re.compile(
    r"查体|体格检查|体检(?:示|发现|见)|专科检查|血常规|尿常规|便常规|生化|血气|肿瘤标志物|(?<![A-Za-z])(?:CT|MRI|"
    r"MRA|DSA|PET|ECG|CTA|ERCP|MRCP|WBC|HGB|Hb|PLT|CRP|PSA|AFP|CEA|"
    r"TSH|T[34]|BUN|Cr|ALT|AST|BNP|HIV|DR|BP|Bp)(?![A-Za-z])|[BＢ]超|彩超|超声|X线|x线|X片|胸片|平片|造影|胃镜|"
    r"肠镜|腔镜|内镜|喉镜|镜检|活检|病理|化验|"
    r"检查(?:示|提示|发现|见|未见|显示|结果|为)|(?:示|提示|显示)[:：]|mmol|μmol|umol|mg/d|g/[Ldl]|U/L|IU|ng/|pg/|"
    r"pmol|×\s*10|mmHg|kPa|次[/／]分|"
    r"(?<!自)(?<!无意中)(?<!自行)(?:扪及|触及|触诊|叩诊|听诊|闻及)|压痛|反跳痛|肌紧张|肌力|腱反射|病理征|瞳孔|"
    r"巩膜|心率\d|律齐|杂音|啰音|罗音|血压\s*\d|血糖\s*\d|粒细胞|条索影|[（(][-+－＋±]+[）)]|[阴阳]性(?:体征)?|"
    r"腹部平[坦软]|胸腔积液|腹腔积液|术中|屈氏韧带|端侧吻合|血钙|血钾|体温[:：]|T[:：]?\s*3\d"
)
_PATIENTS = re.compile(
    r"自(?:行)?(?:扪|触|测|量|查)|无意中|偶然(?:发现|触)|[年月周天]前(?:体检|查体)发现|血压最高|测血压(?:高)?"
)
_DENIED = re.compile(
    r"^(?:也|亦|均|并|且|但|其间|期间|病程中)?(?:无(?!明显诱因|诱因|意[中间外]|力|痛性|法|规律|名)|否认|未(?!婚|"
    r"予|经|治|重视|育|在意|缓解|见好|行|系统|规律)|不伴|没有)|既往(?:体健|无|身体健康)|均?无(?:特殊|异常)|^体健$|"
    r"无.{1,12}史$"
)
_DENIED_LIST = re.compile(
    r"^(.{0,8}?(?:均?无明显|均?无|否认有?|不伴有?|未诉|没有))(.+?)((?:等.{0,8})?(?:病?史|症状|不适)?)$"
)
_NOT = re.compile(r"^(?:无明显|无|否认|未诉)")
_ADMISSION = re.compile(
    r"收(?:住|治)?入?院|入住我|为求?进一步|(?:急|遂|今|现)?来(?:我|本)院|急诊以|^(?:个人史|家族史|既往史|婚育史|"
    r"月经史|[及和、])+$|^(?:主诉|现病史|追问病史|病史及体检)$"
)
_LEAD = re.compile(r"^(?:并|且|但|而|亦|也|及|伴|后|故|遂|\d+(?:支|包|两|斤|ml|mL|次|片|粒))")
_SHORT, _LONG = 4, 60


def told_of(text: str, *, topic: str = "") -> Iterator[Told]:
    """Give what a history tells, piece by piece; a topic, such as 过敏史, stands before what does not say it itself.

    >>> [one.text for one in told_of("病人，男，49岁，3小时前解大便后出现右下腹疼痛，无发热、呕吐。")]
    ['3小时前解大便后出现右下腹疼痛', '无发热', '无呕吐']
    """
    for sentence in _SENTENCE.split(text):
        for piece in _pieces(_HEAD.sub("", sentence, count=1)):
            finding = _FINDING.search(piece) is not None and _PATIENTS.search(piece) is None
            denied = _denies(piece)
            for one in _by_need(piece) if denied else (piece,):
                yield Told(one if not topic or topic[:2] in one else f"{topic}：{one}", denied=denied, finding=finding)


def _denies(piece: str) -> bool:
    """Say whether a piece denies, its time apart."""
    first, _, rest = piece.partition("，")
    return _DENIED.search(rest if rest and _TIME.match(first) else first) is not None


def _goes_on(before: str, clause: str) -> bool:
    """Say whether a clause is a fragment of the piece before it."""
    if len(before) + len(clause) >= _LONG or _DENIED.search(clause):
        return False
    listed = re.fullmatch(r"[^，]{2,10}史", clause) is not None and re.match(r"否认|无", before) is not None
    return len(clause) < _SHORT or listed or _LEAD.match(clause) is not None


def _by_need(piece: str) -> list[str]:
    """Part what is denied in one breath by what would ask for it: 无发热、呕吐、腹泻 is 无发热 and 无呕吐、腹泻."""
    match = _DENIED_LIST.match(piece)
    items = [_NOT.sub("", one) for one in re.split(r"[、及和]", match[2])] if match else []
    if match is None or len(items) < 2 or any(not 1 < len(item) <= 8 for item in items):
        return [piece]
    grouped: dict[str, list[str]] = {}
    for item in items:
        grouped.setdefault(need_of(item, "zh").name, []).append(item)
    if len(grouped) < 2:
        return [piece]
    whole = ((match[1] + "、".join(group), match[3]) for group in grouped.values())
    return [text if text.endswith("史") and end.endswith("史") else text + end for text, end in whole]


def identity_of(text: str) -> str:
    """Find sex and age in the first words of a history: `性别：男；年龄：49岁`; blank where neither stands there.

    >>> identity_of("男性病儿，3岁，4个月前母亲发现……")
    '性别：男；年龄：3岁'
    """
    head = text[:120]
    sex = re.search(r"(?<![子父母儿])(男|女)(?!儿|婿|朋友|方)", head)
    age = re.search(r"(?<![\d.])(\d{1,3}(?:周?岁|[yY](?![a-z])|个月龄?|天(?=大|龄)))(?!前|来|余|以|之|后|内)", head)
    parts = [f"性别：{sex[1]}"] if sex else []
    return "；".join([*parts, f"年龄：{re.sub('[yY]', '岁', age[1])}"] if age else parts)


def _pieces(sentence: str) -> Iterator[str]:
    """Cut a sentence at its commas; a time stays with what happened then, and a fragment with what it continues."""
    held = ""
    waiting: list[str] = []
    for raw in _COMMA.split(sentence):
        clause = _WHO.sub("", raw.strip(" \t\u3000、：:"))
        if not clause or _NAMED.match(clause) or _IDENTITY.match(clause):
            continue
        if held:
            clause, held = f"{held}，{clause}", ""
        if _TIME.match(clause):
            held = clause
            continue
        if waiting and _goes_on(waiting[-1], clause):
            waiting[-1] += f"，{clause}"
        else:
            waiting.append(clause)
    if held:
        waiting.append(held)
    yield from (one for one in waiting if len(one) > 1 and not _ADMISSION.search(one))
