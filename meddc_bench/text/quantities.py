"""Durations, age, sex and side, read from Chinese text."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from meddc_bench.text.normal import normalise
from meddc_bench.text.numerals import number


class Duration(msgspec.Struct, frozen=True):
    """A stated length of time in days and where it stands in the text."""

    days: float
    start: int
    end: int
    text: str


_UNITS = {
    "分钟": 1 / 1440,
    "小时": 1 / 24,
    "钟头": 1 / 24,
    **dict.fromkeys(("天", "日", "晚上", "晚", "宿"), 1.0),
    **dict.fromkeys(("周", "星期", "礼拜"), 7.0),
    "月": 30.0,
    "年": 365.0,
}
_LENGTH = re.compile(
    r"(?<![每第\d.月年/])(?P<n>\d{1,6}(?:\.\d{1,3})?(?:\s{0,3}[-~～—至到]\s{0,3}\d{1,6}(?:\.\d{1,3})?)?|[一二两三四五六七八九十百]{1,6}|"
    r"[好十]?几十?|数十?|半)\s{0,3}(?P<more>多|来|余)?\s{0,3}"
    r"(?P<unit>个?半?(?:小时|钟头|月|星期|礼拜)|个?多?月|个多(?:星期|礼拜|小时|钟头)|天|日|周|年|分钟|个?晚上|"
    r"宿)(?P<half>半(?!夜|天))?"
)
_RATE = re.compile(
    r"\s*(?:内|里|得|要|就|能|大概|大约|"
    r"差不多)?[^，,。；、]{0,4}?(?:[\d一二两三四五六七八九十几]{1,6})\s*(?:[-~到至]\s*\d+)?\s*(?:多)?(?:次|片|包|支|杯|"
    r"瓶|两|斤|顿|趟|回|粒|个(?!月|小时|星期|礼拜))"
)
_WORDS = {
    **dict.fromkeys(("刚才", "刚刚"), 0.02),
    **dict.fromkeys(("今早", "今天早上"), 0.3),
    "今天": 0.5,
    **dict.fromkeys(("昨晚", "昨夜"), 0.7),
    **dict.fromkeys(("昨天", "昨日"), 1.0),
    **dict.fromkeys(("前天", "大前天", "前两天"), 2.0),
    "前几天": 4.0,
    **dict.fromkeys(("上周", "上星期", "上个星期", "上礼拜"), 7.0),
    **dict.fromkeys(("上个月", "前阵子"), 30.0),
    "去年": 365.0,
    "前年": 730.0,
    "从小": 3650.0,
}
_WORD = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_SEVERAL = {"几": 4.0, "数": 4.0, "好几": 5.0, "十几": 14.0, "几十": 40.0, "数十": 40.0, "半": 0.5}


@lru_cache(maxsize=8192)
def durations(text: str) -> tuple[Duration, ...]:
    """List the lengths of time a text states, in order; rates (一天三次), dates and years are none."""
    found = []
    for match in _LENGTH.finditer(text):
        days = _days(match)
        if days is None or (match["n"] in ("一", "1") and _RATE.match(text, match.end())):
            continue
        found.append(Duration(days, *match.span(), match.group()))
    found += [Duration(_WORDS[match.group()], *match.span(), match.group()) for match in _WORD.finditer(text)]
    return tuple(sorted(found, key=lambda item: item.start))


def _days(match: re.Match[str]) -> float | None:
    count, unit = match["n"], match["unit"]
    kind = next(name for name in _UNITS if unit.endswith(name))
    if kind == "月" and "个" not in unit and count not in _SEVERAL and not match["more"]:
        after = match.string[match.end() :]
        if re.match(r"前|以前|来|之久", after) is None:  # 10月 is a date
            return None
    value = _SEVERAL.get(count) or _value(count)
    if value is None or (kind == "年" and value >= 1900) or (kind == "日" and value > 60):
        return None
    if "半" in unit or match["half"]:
        value += 0.5
    more = match["more"] or "多" in unit
    return round((value + (0.3 if more and value < 10 else 0)) * _UNITS[kind], 3)


def _value(count: str) -> float | None:
    """Read a number or the middle of a range."""
    if count[0].isdigit():
        parts = [float(part) for part in re.findall(r"\d+(?:\.\d+)?", count)]
    else:
        read = number(count)
        parts = [float(part) for part in read.split("-")] if read else []
    return sum(parts) / len(parts) if parts else None


_YEARS = re.compile(
    r"(?P<y>\d{1,3}(?:\.\d)?)(?:-\d+)?(?:多|来|余|出头)?岁(?P<half>半)?(?:零|又|"
    r"多)?(?:(?P<m>\d{1,2})个?月)?(?!的?时候?|那年|起|开始|以前|之前|前|后|就|左右(?:得|开始))"
)
_MONTHS = re.compile(
    r"(?:(?P<a>\d{1,2}(?:\.\d)?)(?:-\d+)?个?多?月(?:的?(?:宝宝|孩子|婴儿|娃)|大|龄|了?(?=,?(?:男|女|宝宝)))|"
    r"月龄[:,]?(?P<b>\d{1,2}))"
)
_DAYS = re.compile(
    r"(?:出生(?:才|第|已经|刚)?(?P<a>\d{1,3})天|(?P<b>\d{1,3})天(?:大|的(?:宝宝|新生儿|婴儿))|"
    r"日龄[:,]?(?P<c>\d{1,3}))"
)
_FIELD = re.compile(r"年龄[:,]?\s*(?P<n>\d{1,3}(?:\.\d)?)(?P<unit>岁|个?月|天)?(?:半)?")
_OTHERS = re.compile(
    r"(?:父亲|母亲|爸|妈|爷爷|奶奶|外公|外婆|哥|姐|弟|妹|老公|爱人|老伴|丈夫|妻子|大儿子|大女儿|老大|"
    r"(?<!的)儿子今年)[^,.;]{0,6}$"
)


@lru_cache(maxsize=8192)
def age(text: str) -> float | None:
    """Read the patient's age in years (months and days of infants as fractions), None when not stated."""
    text = normalise(text)
    if field := _FIELD.search(text):
        scale = {"月": 1 / 12, "天": 1 / 365.25}.get((field["unit"] or "岁")[-1], 1.0)
        tail = _YEARS.match(text, field.start("n"))
        return _year(tail) if tail and scale == 1.0 else round(float(field["n"]) * scale, 3)
    for match in _YEARS.finditer(text):
        if not _OTHERS.search(text[: match.start()]):
            return _year(match)
    if months := _MONTHS.search(text):
        return round(float(months["a"] or months["b"]) / 12, 3)
    if days := _DAYS.search(text):
        return round(float(days["a"] or days["b"] or days["c"]) / 365.25, 3)
    return None


def _year(match: re.Match[str]) -> float:
    return round(float(match["y"]) + (0.5 if match["half"] else 0) + (float(match["m"]) / 12 if match["m"] else 0), 3)


_SEX = (
    re.compile(r"性别[:：]?\s*(?P<s>[男女])"),
    re.compile(r"(?<!性)(?P<s>[男女])(?:性|的|孩|宝|婴|患者|[,，]\s*\d|[,，。.]|$)(?!朋友|友)"),
    re.compile(r"(?:^|[,，。.\s今岁])(?P<s>[男女])(?=[,，\s]*\d)"),
    re.compile(r"岁[,，的\s]*(?P<s>[男女])(?!儿|友|朋友)"),
)
_FEMALE = re.compile(
    r"我是?[^,，。]{0,6}(?:女士|孕妇|家庭主妇|宝妈)|月经|例假|大姨妈|怀孕|孕\d|末次|白带|产后|哺乳|我(?:老公|丈夫)|"
    r"闺女|女儿|姑娘|子宫|停经"
)
_MALE = re.compile(r"我是?[^,，。]{0,6}先生|前列腺|睾丸|阴囊|我(?:老婆|妻子|媳妇)|小伙|儿子|男娃")


@lru_cache(maxsize=8192)
def sex(text: str) -> str | None:
    """Read the patient's sex: 男, 女 or None when nothing tells."""
    for pattern in _SEX:
        if match := pattern.search(text):
            return match["s"]
    female, male = _FEMALE.search(text), _MALE.search(text)
    if female and male:
        return "女" if female.start() < male.start() else "男"
    return "女" if female else "男" if male else None


_BOTH = re.compile(
    r"双侧|两侧|两边|左右两?[侧边]?(?=都|均)|双(?=[眼膝肾肺下上手耳腿肩髋足脚踝腕乳颈踇]|小腿|大腿)|"
    r"[两2俩](?:只|条|"
    r"个|边)?(?=眼|膝|手|耳|腿|肩|脚|胳膊|侧|肾|乳)|两[眼膝手耳腿肩脚肺]"
)
_LEFT = re.compile(r"左(?!右)|(?<![a-z])l(?:eft)?(?=侧)")
_RIGHT = re.compile(r"(?<!左)右(?!美沙芬|旋)")


@lru_cache(maxsize=16384)
def laterality(text: str) -> frozenset[str]:
    """Read the sides a text names: 左, 右, 双."""
    found = set()
    if _BOTH.search(text):
        found.add("双")
    if _LEFT.search(text):
        found.add("左")
    if _RIGHT.search(text):
        found.add("右")
    if found >= {"左", "右"}:
        found = {"双"} | found
    return frozenset(found)
