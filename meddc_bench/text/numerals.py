"""Chinese and Roman numerals before measure words, as Arabic digits; words that only look like numerals stay."""

from __future__ import annotations

import re
from functools import lru_cache

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "俩": 2}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7}

_MEASURE = (
    "个半月|个半小时|个半钟头|个月|个多月|个小时|个多小时|个钟头|个星期|个礼拜|个孩子|个|天|日(?!常)|周(?!围|边)|"
    "星期|礼拜|月|年|岁|小时|钟头|分钟|秒|"
    "次(?!性)|片|粒|颗|型|级|期|杯|瓶|支|包|斤|公斤|千克|米|厘米|公分|毫升|克|毫克|胎|顿|度|多岁|多天|多年|多次|"
    "多个|来天|来岁|来年|余年|余天|天半|年半|点半|点钟"
)
_CHINESE = re.compile(
    rf"(?<![零〇一二两三四五六七八九十百千万亿半几数第\d分之])(?<!\d\.)(?P<n>[零〇一二两三四五六七八九十百千]+(?:"
    rf"点[零〇一二三四五六七八九]+)?)(?P<half>半)?"
    rf"(?={_MEASURE})"
)
_DEGREE = re.compile(
    r"(?P<whole>[三四]十[一二三四五六七八九]?)度(?P<part>[一二三四五六七八九](?![一二三四五六七八九十百天年周个]))?"
)
_HALF = re.compile(r"(?<![一二两三四五六七八九十百\d几个])半(?:个)?(?P<unit>年|月|小时|钟头)(?!载)")
_ORDINAL = re.compile(r"第(?P<n>[一二三四五六七八九十]+)(?=[次天周胎个])")
_ROMANS = re.compile(r"(?<![a-z0-9])(?P<n>i{1,3}|iv|vi{0,2})(?=型|级|期|度|°)")
_HALVES = {"年": "6个月", "月": "15天", "小时": "30分钟", "钟头": "30分钟"}
_WORDS = frozenset({"一度", "一期间", "一级棒", "一点", "一年到头", "一日三餐", "千秒"})
_HINT = re.compile(r"[零〇一二两三四五六七八九十百千半俩]|[iv]+[型级期度]")


@lru_cache(maxsize=4096)
def number(text: str) -> str | None:
    """Read a Chinese numeral: 十二 -> 12, 三点五 -> 3.5, 两三 -> 2-3, 四五十 -> 40-50; None when it is none."""
    if len(text) == 1 and text in _DIGITS:
        return str(_DIGITS[text])
    spread = re.fullmatch(
        r"(?P<tens>[一二三四五六七八九]?十)?(?P<a>[一二两三四五六七八九])(?P<b>[二两三四五六七八九])(?P<unit>"
        r"[十百千]"
        r"?)",
        text,
    )
    if spread and not (spread["tens"] and spread["unit"]) and _DIGITS[spread["a"]] < _DIGITS[spread["b"]]:
        base = int(number(spread["tens"]) or 0) if spread["tens"] else 0
        scale = {"": 1, "十": 10, "百": 100, "千": 1000}[spread["unit"]]
        return f"{base + _DIGITS[spread['a']] * scale}-{base + _DIGITS[spread['b']] * scale}"
    import cn2an  # 0.1 s to import, needed only for compound numerals

    try:
        value = cn2an.cn2an(text.replace("俩", "二"), "smart")
    except (ValueError, KeyError, IndexError):
        return None
    return str(int(value)) if float(value).is_integer() else str(value)


def hinted(text: str) -> re.Match[str] | None:
    """Look for a sign that there may be a numeral to rewrite."""
    return _HINT.search(text)


def edits(text: str) -> list[tuple[int, int, str]]:
    """List the replacements, in order, that make numerals Arabic in an already folded text."""
    if hinted(text) is None:
        return []
    found: list[tuple[int, int, str]] = []
    for match in _ROMANS.finditer(text):
        found.append((*match.span(), str(_ROMAN[match["n"]])))
    for match in _HALF.finditer(text):
        found.append((*match.span(), _HALVES[match["unit"]]))
    for match in _ORDINAL.finditer(text):
        if value := number(match["n"]):
            found.append((match.start("n"), match.end("n"), value))
    for match in _DEGREE.finditer(text):
        if value := number(match["whole"]):
            found.append((*match.span(), value + (f".{number(match['part'])}" if match["part"] else "") + "度"))
    for match in _CHINESE.finditer(text):
        word = text[match.start() : match.end() + 1]
        value = None if word in _WORDS else number(match["n"])
        if value is not None and not any(start < match.end() and match.start() < end for start, end, _ in found):
            found.append((*match.span(), value + (".5" if match["half"] and "-" not in value else match["half"] or "")))
    return sorted(found)


def arabic(text: str) -> str:
    """Write numerals before measure words in Arabic digits."""
    for start, end, new in reversed(edits(text)):
        text = text[:start] + new + text[end:]
    return text
