"""Takes off the tags by which AI Hospital's patients say whom they address: <对医生讲>, <对检查员讲>, <结束>."""

from __future__ import annotations

import re

_OPEN = r"(?:&lt;|[<＜〈《«【\[［(（「『{｛])"
_CLOSE = r"(?:&gt;|[>＞〉》»】\]］)）」』}｝])"
_ANGLE_OPEN, _ANGLE_CLOSE = r"(?:&lt;|[<＜〈《])", r"(?:&gt;|[>＞〉》])"


def _spaced(*words: str) -> str:
    """Match one of some words, blanks between its characters allowed."""
    return "(?:" + "|".join(r"\s*".join(re.findall(r"\[[^]]+\]|.", word)) for word in words) + ")"


_WHO = _spaced("[医醫]生", "[医醫][师師]", "大夫", "[检檢]查[员員]", "[检檢][验驗][员員]", "患者", "病人")
_SPEECH = rf"[对對]\s*{_WHO}\s*[讲講说說]"
_END = _spaced("[对對][话話][结結]束", "[结結]束")
_SECTION = _spaced("现病史", "既往史", "个人史", "主诉")

_TAG = re.compile(
    rf"(?=[<＜〈《«【\[［(（「『{{｛&对對结結 \t])(?:{_OPEN}+\s*(?:{_SPEECH}|{_END})\s*{_CLOSE}+[ \t]*[:：]?"
    rf"|{_ANGLE_OPEN}+\s*(?:{_WHO}|{_SECTION})\s*{_ANGLE_CLOSE}+[ \t]*[:：]?"
    rf"|{_ANGLE_OPEN}+\s*{_SPEECH}[:：]?"
    rf"|{_SPEECH}\s*{_ANGLE_CLOSE}+|^[ \t]*{_SPEECH}\s*[:：]"
    rf"|{_ANGLE_OPEN}+\s*{_END}\s*\Z|\A\s*{_END}\s*{_ANGLE_CLOSE}|{_END}\s*{_ANGLE_CLOSE}+\s*\Z)",
    re.MULTILINE,
)
_BARE_END = re.compile(rf"(?:\A|(?<=[。！？!?～~…\s])){_END}[。.!！～~\s]*\Z")
_MARKS = ("<", "＜", "〈", "《", "&lt;", "束", "对", "對")
_BLANKS = re.compile(r"[ \t\u3000]+(?=\n)")
_GAP = re.compile(r"\n{3,}")
_WORD = re.compile(r"\w")


def untagged(text: str) -> str:
    """Take every tag off a text, and a last sentence that is the tag without its brackets; blank when nothing is left.

    >>> untagged("<对医生讲> 谢谢您的帮助。< 结束 ＞")
    '谢谢您的帮助。'
    """
    if not any(mark in text for mark in _MARKS):
        return text.strip()
    bare, found = text, 0
    while True:
        bare, tags = _TAG.subn("", bare)
        bare, ends = _BARE_END.subn("", bare) if "束" in bare else (bare, 0)
        found += tags + ends
        if not tags + ends:
            break
    bare = bare.strip()
    if not found:
        return bare
    bare = _GAP.sub("\n\n", _BLANKS.sub("", bare))
    return bare if _WORD.search(bare) else ""
