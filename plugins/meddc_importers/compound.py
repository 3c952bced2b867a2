"""Tells whether a name ends as a disease, and parts or joins names that belong apart or together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_OPENERS, _CLOSERS = "(（[【〔", ")）]】〕"
BRACKETS = r"(?:[（(][^（）()]*[）)])"
_HEADS = (
    "病|症|炎|癌|瘤|综合征|综合症|结石|溃疡|梗死|梗塞|梗阻|出血|骨折|感染|衰竭|心衰|右心衰|左心衰|呼衰|贫血|高血压|高压|糖尿病足|哮喘|感冒|流感|"
    "痛风|卒中|中风|心绞痛|损伤|破裂|狭窄|硬化|纤维化|增生|囊肿|息肉|积液|积水|腹水|水肿|脱垂|突出|疝|痔疮?|结核|中毒|障碍|癫痫|失调|不全|"
    "亢进|心功能|失常|减退|减低|降低|升高|早搏|房颤|颤动|扑动|过速|过缓|停搏|停博|阻滞|预激|逸搏|心律|联律|[房室]早|[房室]速|穿孔|扭转|脱位|劳损|湿疹|荨麻疹|疱疹|癣|血栓|栓塞|闭塞|气胸|"
    "气肿|肺大泡|脂肪肝|紫癜|夹层|脓肿|缺血|肥厚|扩张|返流|反流|结节|肿大|肿块|占位|病变|异位|白内障|青光眼|耳聋|偏瘫|麻痹|无力|头痛|疼痛|"
    "眩晕|休克|坏死|过敏|脱水|紊乱|异常|后遗症|术后|术后状态|加重|便秘|腹泻|肛裂|隆起|钙化灶|斑块|形成|缺乏|增多|减少|不良|妊娠|流产|脾大|"
    "未闭|缺损|畸形|退化|消失"
)
_DISEASE = re.compile(
    rf"(?:{_HEADS})(?:失?代偿期|急性加重期?|急性期|慢性期|早期|晚期|复发|[（(]?[IVXⅠⅡⅢⅣ\d一二三四-]+[级期度型组][）)]?|"
    rf"[A-D]组|[极很高中低]+危组?|{BRACKETS}|[，,])*$"
)
TOGETHER = re.compile(r"[，,]?(?:(?:并?伴|合并)有?+|并发(?!症|展)|并(?!发|且|已|有|伴))(?=[^，,。]{2})")
_PART_OF = re.compile(
    r"(?:多种?|各种|多|急性|慢性|[轻中重-]+度)?(?:并发症|感染|出血|穿孔|破裂|梗阻|积液|积水|腹水|水肿|坏死|溃疡|狭窄|闭塞|关闭不全|扩张|钙化|嵌顿|休克|脱水|加重|"
    r"发作|形成|后遗症|疼痛|头痛|腹泻|便秘|眩晕|无力|脾大|脱位|异常|增厚|肿大|[中大少]量.*|.*(?:转移|侵犯)|急性(?:加重|发作|感染))"
)
_OF_DIABETES = re.compile(r"神经|肾病|视网膜|眼|足|酮症|血管病变|并发症|高渗")
_NOT_ALONE = re.compile(r"(?:妊娠|术后|外伤|产后|围产期)$")
_CLASSES = (
    (re.compile(r"心律失常"), re.compile(r"颤动|扑动|早搏|期前收缩|[房室][早颤扑速]|过速|过缓|不齐|阻滞|停[搏博]|预激|逸搏")),
    (re.compile(r"先天性心脏病|先心病"), re.compile(r"缺损|未闭|四联症|卵圆孔|大动脉转位")),
    (re.compile(r"水?电解质(?:代谢)?(?:紊乱|失衡)|代谢紊乱"), re.compile(r"[低高][钾钠钙氯镁磷]|[酸碱]中毒")),
)  # fmt: skip
_OPENS_A_NAME = re.compile(r"(?:冠心病|冠状动脉粥样硬化性心脏病|(?:缺血性|出血性)?脑血管病)")
_PLACE = re.compile(r"[左右双]?[^，,；;]{0,8}(?:动脉|静脉|[上中下]叶|段|区|侧|部|支|分支)")
_RUN_ON = re.compile(
    r"(?<=[病症炎征全竭死石痛风喘化染期级压良）)])(?<![轻重]症)\s*"
    r"(?=(?:急性|慢性|陈旧性|感染性|[12ⅠⅡI]{1,2}型|高血压|心功能不全|心力衰竭|呼吸衰竭|胆囊炎|胆管炎)(?!加重|发作|期|起病|感染|型|后遗症))"
)
_LONGEST = 200
_NUMERALS = "一二三四五六七八九十"
LAST_BRACKETS = re.compile(r"^(.+?)\s*[（(]([^（）()]+)[）)]$")


def is_disease(name: str) -> bool:
    """Say whether a name ends as that of a disease, a finding or a state after treatment."""
    return _DISEASE.search(name) is not None


def cut(text: str, separators: str) -> list[str]:
    """Split at separators outside brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in _OPENERS:
            depth += 1
        elif char in _CLOSERS:
            depth = max(0, depth - 1)
        elif char in separators and not depth and not _between_numerals(text, at):
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _between_numerals(text: str, at: int) -> bool:
    """Say whether a separator stands inside an enumeration such as 二、三尖瓣."""
    return 0 < at < len(text) - 1 and text[at - 1] in _NUMERALS and text[at + 1] in _NUMERALS


def is_open(text: str) -> bool:
    """Say whether a bracket is left open."""
    return sum(text.count(one) for one in _OPENERS) > sum(text.count(one) for one in _CLOSERS)


def apart(name: str) -> list[str]:
    """Part two diseases that one name joins (痛风合并肾结石); what belongs to the first stays with it (溃疡伴出血).

    >>> apart("痛风合并肾结石"), apart("胃溃疡伴出血"), apart("2型糖尿病并肾病")
    (['痛风', '肾结石'], ['胃溃疡伴出血'], ['2型糖尿病并肾病'])
    """
    for match in TOGETHER.finditer(name) if len(name) <= _LONGEST else ():
        first, second = name[: match.start()], name[match.end() :]
        if _stand_alone(first, second):
            return [first, *apart(second)]
    return [name]


def _stand_alone(first: str, second: str) -> bool:
    """Say whether both are diagnoses in their own right, the second no complication that the first includes."""
    whole = len(first) > 1 and is_disease(first) and is_disease(second) and not is_open(first)
    if not whole or _PART_OF.fullmatch(second) or _NOT_ALONE.search(first):
        return False
    return not (first.endswith("糖尿病") and _OF_DIABETES.search(second))


def runs(name: str) -> list[str]:
    """Part names written without anything between them: 慢性胃炎2型糖尿病."""
    cuts = [0, *(match.end() for match in _RUN_ON.finditer(name)), len(name)]
    parts = [name[a:b].strip() for a, b in pairwise(cuts)]
    whole = len(parts) > 1 and all(is_disease(part) and not is_open(part) for part in parts)
    return parts if whole and not _OPENS_A_NAME.fullmatch(parts[0]) else [name]


def classed(names: Sequence[str]) -> list[str]:
    """Join a bare class with the member that follows it: 心律失常 and 心房扑动 are one diagnosis."""
    out: list[str] = []
    for name in names:
        if out and any(heading.fullmatch(out[-1]) and member.search(name) for heading, member in _CLASSES):
            out[-1] += f"：{name}"
        else:
            out.append(name)
    return out


def placed(names: Sequence[str]) -> list[str]:
    """Give a lone vessel or region back to the diagnosis before it."""
    out: list[str] = []
    for name in names:
        if out and _PLACE.fullmatch(name) and not is_disease(name):
            out[-1] += f"（{name}）"
        else:
            out.append(name)
    return out


def members_of(name: str) -> list[str] | None:
    """List what stands in brackets after a class, where it is its members: 心律失常（室性早搏和心房颤动）."""
    match = LAST_BRACKETS.fullmatch(name)
    for heading, member in _CLASSES:
        if match is not None and heading.fullmatch(match[1]):
            parts = cut(match[2].replace("以及", "和"), "，,、和与")
            return parts if all(member.search(part) for part in parts) else None
    return None
