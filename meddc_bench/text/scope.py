"""Negation scope and subject of a mention: whether a finding is there and whose it is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from meddc_bench.text.normal import simplified

Polarity = Literal["present", "absent", "uncertain"]
Subject = Literal["patient", "family", "other"]

# Words that hold a negator's character and negate nothing to their right.
_HARMLESS = re.compile(
    r"不但|不仅|不只|不光|不止|不过|不舒服|不适|不好|不错|不得不|不停|不断|不住|不时|不少|不由得|不由自主|不久|"
    r"不小心|不动|不得劲|不得了|不利索|不利落|"
    r"不规律|不规则|不消|不退|不愈|不缓解|不见好|不行|不清楚|不知道|不知|不确定|不一定|不见得|不同|不等|不开|"
    r"不下|不着|不进|不出|不来|不起|不上|不了|不太清楚|"
    r"不稳|不齐|不均|不全|不足|不良|不耐|不安|不定期|不管|不论|不明|不算|不如|不再|受不|不通|不灵|不想吃|"
    r"不爱吃|不对劲|"
    r"没办法|没法|没事|没多久|没想到|没劲|没力气|没力|没胃口|没精神|没完没了|没几天|没几|没注意|没留意|没量|没查|"
    r"没管|没当回事|没治|没吃药|没用药|没休息好|没睡好|没好|没缓解|没在意|"
    r"没有力气|没有劲|没有胃口|没有精神|没有食欲|没有注意|没有好转|没有缓解|没有办法|没有规律|没有原因|没有诱因|"
    r"没有多久|没有吃药|没有用药|没有减轻|没有治疗|没怎么治|没什么力气|没什么劲|没什么胃口|没什么精神|"
    r"无明显诱因|无明显原因|无诱因|无缘无故|无意中|无意间|无论|无力|无法|无规律|未婚|未育|未治疗|未处理|未予|"
    r"未缓解|未重视|未在意|无缓解|无好转|无特殊"
)
_ASKED = re.compile(r"有没有|有无|是否|是不是|会不会|能不能|要不要|([一-鿿])不\1|([一-鿿])没\2|没有?(?=[吗？?])")
_NEGATOR = re.compile(
    r"(?P<formal>否认|未见|未闻|未触及|未诉|未发现|未出现|未有|并无|亦无|均无|也无|尚无|从无|无)|"
    r"(?P<have>从来没有?|从没有?|并没有?|都没有?|也没有?|没有?|未曾|未)|"
    r"(?P<not>并不是|并非|不是|从来不|从不|并不|都不|也不|绝不|不|非)"
)
_EVEN = re.compile(r"(?:不是|并非|没有|不能说|不会)(?:说)?(?:完全|一点)?(?:不|没有?|无)")
_BREAK = re.compile(
    r"但|不过|可是|可(?=就)|只是|只有|仅|却|就是|而是|反而|反倒|结果|然后|所以|因为|因此|导致|引起|除了|除|"
    r"现在|后来|"
    r"目前"
)
_STILL = re.compile(r"就|也|才|却|还|都|便|又|仍")
_HAVE = re.compile(r"(?<!没)(?<!没有)有(?!关|些时|点)|出现(?!过)|伴|觉得|感到|总是|老是")
_LESS = re.compile(
    r"(?:没有?|不如|不像)(?:以前|之前|原来|昨天|前几天|前两天|刚才|刚开始|上次|白天|晚上|平时|那么|这么|那样|这样|"
    r"那会儿|当时|从前|开始)"
)
_MILD = re.compile(r"(?:不怎么|不太|不大|不很|不特别|没怎么|不算)$")
_DOUBT = re.compile(
    r"不确定|不清楚|不太清楚|不知道|说不清|说不好|说不准|记不清|记不得|没注意|没留意|没在意|没量|没查过|不好说|"
    r"不一定|也许|可能|没测|拿不准"
)
_AFTER = re.compile(
    r"(?:(?:这些|这类|那些|这几样|这种|之类|什么|等)(?:的)?(?:情况|症状|毛病|病)?)?(?:我|他|她|孩子)?(?:是|倒是|"
    r"倒|都|也|就|却|从来|一直|统统)*"
    r"(?:没有|没|否认|阴性|不明显|未见)(?:过|的|了|出现|发生)?(?:啊|呢|呀|吧|嘛|哦|哈)?(?=$|[，,。.;；！!\n）)])"
)
_LIST = re.compile(r"[^，,。；;！!？?\n]{0,24}?")
_ENDS = "。！？!?；;\n"
_JOINED = re.compile(r"^(?!.*[疼痛]得)[^，,有就会很了着总都又想要]{1,8}$")
_TAIL = re.compile(r"这些|之类|什么的|等(?:等|症状|情况|病|疾病|表现)?|都没有|也没有")
_CONDITION = re.compile(r"^[^，,。；]{0,4}(?:的时候|时|的话|期间)")


_BEFORE, _BEHIND = 160, 40


def _window(text: str, start: int, end: int) -> tuple[str, str, str]:
    """Cut out the mention with what stands before it in its sentence and shortly behind it."""
    first = max(0, start - _BEFORE)
    begin = max((text.rfind(mark, first, start) for mark in _ENDS), default=-1) + 1
    left, right = text[max(begin, first) : start], text[end : end + _BEHIND]
    return simplified(left), simplified(text[start:end]), simplified(right)


def polarity(text: str, start: int, end: int) -> Polarity:
    """Say whether what stands at `start:end` is stated as there, as not there, or left open."""
    return _polarity(*_window(text, start, end))


@lru_cache(maxsize=32768)
def _polarity(left: str, mention: str, right: str) -> Polarity:
    scope = _scope(left, right, mention)
    if _ASKED.search(scope) or _ASKED.match(right[:4]):
        return "uncertain"
    if _denied_after(right):
        return "absent"
    doubt = max((match.end() for match in _DOUBT.finditer(scope)), default=None)
    if doubt is not None and not re.search(r"[有是]", scope[doubt + 6 :]):
        return "uncertain"
    if re.match(r"[^，,。；有]{0,4}(?:不确定|不清楚|不知道|说不清|说不好|记不清|没注意|没留意)", right):
        return "uncertain"
    verdict = _negated(scope)
    if verdict == "absent" and scope[-3:-2] in ("", "不") and _CONDITION.match(right):
        return "uncertain"
    return verdict


def _scope(left: str, right: str, mention: str) -> str:
    """Cut what stands to the left down to what can still govern the mention: its clause, or a list that runs on."""
    parts = re.split(r"[，,]", left)
    scope = parts.pop()
    for at in range(len(parts) - 1, -1, -1):
        joined = "、".join([*parts[at + 1 :], scope])
        if _runs_on(parts[at], joined, mention, right):
            scope = parts[at] + "、" + joined
            break
        if not _JOINED.match(parts[at]):
            break
    breaks = [match.end() for match in _BREAK.finditer(scope)]
    return scope[breaks[-1] :] if breaks else scope


def _runs_on(before: str, scope: str, mention: str, right: str) -> bool:
    """Say whether a denial in the clause before runs over the comma: 无发热，胸痛，头晕; 没有发热，咳嗽这些."""
    head = re.split(r"[、和或及跟]", scope)[0] or mention
    if not all(_JOINED.match(piece) for piece in (scope + mention).split("、")) or re.match(
        r"也|没|不|无|但|就|现在|后来|只|还|一|我|他|她", head
    ):
        return bool(re.match(r"(?:也|或者?|以及|和)(?![没不无])", scope + mention)) and _negated(before) == "absent"
    if re.search(r"(?:否认|未见|^无|[^毫]无|未诉|未出现)", before):
        return not re.match(r"[^，,。]{0,3}\d", right)
    following = re.split(r"[。；;！!？?\n]", right)[0]
    return bool(_TAIL.search(following)) and _negated(before) == "absent"


def _denied_after(right: str) -> bool:
    """Say whether a denial follows: 发热、咳嗽都没有."""
    for match in re.finditer(r"(?=[是倒都也就却没否阴不未我他她孩这那之什等从一统])", right):
        between = right[: match.start()]
        if re.search(r"[。；;！!？?\n]", between) or (between and not _listed(between)):
            return False
        if _AFTER.match(right, match.start()):
            return True
    return False


def _listed(between: str) -> bool:
    """Say whether only further list items stand between: 、咳嗽、胸痛."""
    if between in ("，", ",", "、", "的症状", "的情况", "病", "过敏史", "史"):
        return True
    pieces = [piece for piece in re.split(r"[、和或及跟，,]", between) if piece]
    return between[0] in "、和或及跟，," and all(
        len(piece) <= 6 and not re.search(r"[有没不就会很了着总]", piece) for piece in pieces
    )


def _negated(scope: str) -> Polarity:
    """Judge the mention at the end of its scope."""
    if _EVEN.search(scope) and not re.search(r"[、和或]", scope[-8:]):
        return "present"
    if _LESS.search(scope):
        return "present"
    if _MILD.search(scope):
        return "uncertain"
    scope = _HARMLESS.sub(lambda match: "〇" * len(match.group()), scope)
    negators = list(_NEGATOR.finditer(scope))
    if not negators:
        return "present"
    last = negators[-1]
    between = scope[last.end() :]
    return "absent" if _reaches(last, between) else "present"


def _reaches(negator: re.Match[str], between: str) -> bool:
    """Say whether a negator reaches over what stands between it and the mention."""
    first = re.split(r"[、和或及跟与]|以及", between)[0]
    if _STILL.search(between) and not re.match(r"(?:[、和或及]|以及)", between):
        return False
    if _HAVE.search(between):
        return False
    if negator["not"] and not negator["not"].endswith("是"):
        return len(first) <= 4 or "、" in between
    if negator["have"]:
        return len(first) <= 10 or "、" in between
    return len(first) <= 14 or "、" in between


_KIN = re.compile(
    r"(?P<kin>父母|爸妈|双亲|父亲|母亲|爸爸|妈妈|老爸|老妈|爸|妈|爷爷|奶奶|外公|外婆|姥姥|姥爷|祖父|祖母|外祖|"
    r"哥哥|姐姐|弟弟|妹妹|大哥|二哥|大姐|二姐|哥|姐|弟|兄弟|姐妹|兄妹|姐弟|"
    r"叔叔|伯伯|大伯|二叔|姑姑|姑妈|大姑|姨妈|小姨|大姨|阿姨|舅舅|大舅|堂[哥弟姐妹]|表[哥弟姐妹]|直系亲属|亲属|"
    r"亲戚|家族|家里(?=没?有?人|没|有[人谁]|人|老人|大人|长辈|其他人)|家人|家中(?=没|有|无)|长辈|孩子他?爸|"
    r"孩子他?妈)|"
    r"(?P<other>老公|老伴|爱人|媳妇|丈夫|妻子|对象|男朋友|女朋友|同事|同学|邻居|朋友|室友|舍友|别人|工友|领导|"
    r"同桌|班上|班里|幼儿园(?:里|其他|有)|周围的?人|身边的?人|家里的?[猫狗])|"
    r"(?P<self>我(?!们?(?:家|爸|妈|父|母|爷|奶|外|姥|哥|姐|弟|妹|叔|伯|姑|姨|舅|老公|老伴|爱人|媳妇|丈夫|妻子|"
    r"对象|男朋友|女朋友|同事|同学|邻居|朋友|室友|大[哥姐伯姑姨舅]|二[哥姐叔]|堂|表|[两几一]个?[哥姐弟妹]))|自己|"
    r"本人|患者|病人|孩子(?![他的]?[爸妈])|宝宝|娃)"
)
_ACTS = re.compile(
    r"(?:也|都|就|又|还|老|总|一直|们)?(?:说|发现|看[到见着出]?|觉得|陪|带|叫|让|摸|给|讲|担心|提醒|劝|怀疑|告诉|"
    r"问|送|抱|听|催|反映|做的|帮|来|扶|用|煮)"
)
_BESIDE = re.compile(r"(?:跟|被|替|帮|找|问|怕|照顾|伺候|陪|和|给|与)(?:我|孩子)?(?:的)?$")


def subject(text: str, start: int, end: int) -> Subject:
    """Say whose finding stands at `start:end`: the patient's (also a parent's child), a relative's or another's."""
    left, _, right = _window(text, start, end)
    return _subject(left, right[:8])


@lru_cache(maxsize=32768)
def _subject(left: str, right: str) -> Subject:
    found: Subject = "patient"
    for match in _KIN.finditer(left):
        if match["self"]:
            if not re.search(r"[和跟与、]我?$", left[: match.start()]):
                found = "patient"
        elif _ACTS.match(left, match.end()) or _BESIDE.search(left[: match.start()]):
            continue
        else:
            found = "family" if match["kin"] else "other"
    if found == "patient" and re.match(r"[^，,。；]{0,2}的?家族史", right):
        return "family"
    return found
