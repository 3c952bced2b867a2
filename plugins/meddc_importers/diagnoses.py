"""Tells lists of diagnoses from prose, and makes reference diagnoses of what people wrote.

A written diagnosis is taken as a list only where it plainly is one: numbered lines, or names between ； 、 ， 和.
Prose, alternatives (或) and hedges inside a name are left to the judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from meddc_bench.records import Diagnosis
from meddc_bench.text import same
from meddc_importers.compound import (
    BRACKETS,
    LAST_BRACKETS,
    TOGETHER,
    apart,
    classed,
    cut,
    is_disease,
    is_open,
    members_of,
    placed,
    runs,
)

LONGEST = 100
_PROSE = re.compile(
    r"可能|考虑|怀疑|疑似|倾向|无法|不能|需要|需进|建议|暂无|未知|未能|未见|尚未|尚无|待|具体|导致|引起|所致|由于|因为|或|请|患者|病人|您|但|"
    r"如果|如[：:下]|[（(]如|例如|包括|特别是|发展为|排除|除外|风险|正常$|无异常|没有|存在|已经?成功|进一步|等$|[:：]$"
)
_LEAD = re.compile(
    r"^(?:根据[^。；;]{0,80}?[，,])?(?:(?:该|这位)?(?:患者|病人)的?|您的?)?(?:目前|综上|最终|最后|初步|临床|主要|入院|出院|可能的?)*"
    r"(?:诊断|考虑|判断)(?:结果|意见)?(?:考虑)?(?:可能)?(?:为|是|[:：])\s*"
)
_HEDGE = re.compile(r"^(?:高度)?(?:可能的|疑似|怀疑|考虑|可能|倾向于?)+(?:为|是)?")
_MARKER = re.compile(
    r"\s*(?:[（(](?:暂定|待[查定排][^（）()]*|可能性?(?:较?大)?|疑似|[^（）()]*(?:初步诊断|进一步)[^（）()]*)[）)]|可能性?(?:较?大)?|待查|待定|暂定|[?？])\s*$"
)
_NUMBER = re.compile(
    r"(?:^|(?<=[\s；;，,。、]))(?:[（(]\d{1,2}[）)]|\d{1,2}\s*(?:[、．)）]|\.(?!\d))|[①-⑳]|[-•●*·]+(?=\s))[ \t]*"
)
_NAME = r"[^\s#＃*】，。；：:]"
_HEADING = re.compile(
    r"^[ \t]*(?:[#＃*【]+[ \t]*)?(?:最终|初步|临床)?诊断(?:结果)?[ \t]*"
    r"(?:[#＃*】]+[ \t]*[:：]?|[:：]|(?<=[#＃*【 ]诊断结果)$)[#＃*】]*",
    re.MULTILINE,
)
_NEXT = re.compile(
    r"^[ \t]*(?:[#＃]+[ \t]*[^\s#＃]{2,10}[ \t]*[#＃]+"
    rf"|[#＃*【]*[ \t]*{_NAME}{{0,6}}(?:依据|治疗|建议|方案|检查|症状|处理|用药|随访|鉴别){_NAME}{{0,4}}"
    r"[ \t]*(?:[#＃*】]+|[:：]|$)"
    r"|请注意|注意[:：])",
    re.MULTILINE,
)
_QUALIFIER = re.compile(rf"[极很高中低]+危组?|心功能[IVⅠⅡⅢⅣ\d一二三四-]+级{BRACKETS}?")
_JOINT = re.compile(r"[并合伴且及](?!殖)")
_ABBREVIATION = re.compile(r"[A-Z][A-Za-z0-9]{1,11}")
_NO_SYNONYM = re.compile(r"T\d|NYHA|Killip|Forrest|Child", re.IGNORECASE)
_ALIAS = re.compile(r"(?:又称|也称|亦称|又名|俗称|简称|即)(?:为)?(.+)")


def listed(text: str) -> tuple[str, ...] | None:
    """Split a written diagnosis into names; None where it is prose, which the judge extracts from.

    >>> listed("1. 肺炎\\n2. 2型糖尿病（待查）")
    ('肺炎', '2型糖尿病')
    """
    names: list[str] = []
    for entry in _entries(text):
        read = _names(entry)
        if read is None:
            return None
        names += read
    return distinct(names) or None


def diagnosis_section(text: str) -> str | None:
    """Find what stands under the heading 诊断结果 of a summary; None where there is no such heading."""
    start = _HEADING.search(text)
    if start is None:
        return None
    end = _NEXT.search(text, start.end())
    return text[start.end() : end.start() if end else len(text)].strip() or None


def reference_diagnoses(units: Sequence[str]) -> tuple[Diagnosis, ...]:
    """Make references of the units of a discharge diagnosis.

    Units that were cut inside brackets are joined again, a unit that lists diagnoses between 、 is split, and a lone
    risk group or heart function class goes back to its diagnosis. An abbreviation or an alias in brackets becomes a
    synonym.
    """
    parts = classed(placed([part for unit in _joined(units) for part in _split_unit(unit)]))
    names = [name for part in _qualified(parts) for run in runs(part) for name in apart(run)]
    return tuple(_with_synonyms(name) for name in distinct(names))


def numbered(text: str) -> tuple[str, ...]:
    """Split a text whose every line is numbered; () for any other text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or any(_NUMBER.match(line) is None for line in lines):
        return ()
    return tuple(item for line in lines if (item := _NUMBER.sub("", line, count=1).strip("。；; ")))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Keep the first of names that are the same but for width, script and punctuation."""
    kept: list[str] = []
    for name in names:
        if not any(same(name, other) for other in kept):
            kept.append(name)
    return tuple(kept)


def _entries(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith((":", "：")):
        lines = lines[1:]
    return [part for line in lines for one in _NUMBER.split(line) if (part := one.strip(" \t；;，,、"))]


def _names(entry: str) -> list[str] | None:
    """Read one line; None where it is prose."""
    entry = _LEAD.sub("", entry).strip(" \t。．；;")
    if not entry or re.search(r"[。！!\n]", entry):
        return None
    names: list[str] = []
    for clause in cut(entry, "；;"):
        read = _clause(_bare(clause))
        if read is None:
            return None
        names += read
    return names


def _clause(clause: str) -> list[str] | None:
    """Split names between ， 、 and 和; a list of places before one name is that one name."""
    if not 2 <= len(clause) <= LONGEST or _PROSE.search(clause):
        return None
    parts = _qualified([_bare(part) for part in cut(clause.replace("以及", "和"), "，,、和与")])
    if any(_JOINT.match(part) for part in parts):
        return None
    if len(parts) == 1:
        return apart(parts[0]) if (members := members_of(parts[0])) is None else members
    diseases = [is_disease(part) for part in parts]
    if all(diseases):
        return [name for part in parts for name in apart(part)]
    places = diseases[-1] and not any(diseases[:-1]) and not re.search(r"[，,]", clause)
    return [clause] if places and not TOGETHER.search(clause) else None


def _bare(name: str) -> str:
    """Strip what only marks a name as uncertain."""
    name = _HEDGE.sub("", name.strip(" \t。；;"))
    while (shorter := _MARKER.sub("", name)) != name:
        name = shorter
    return name.strip()


def _qualified(names: Sequence[str]) -> list[str]:
    """Give a lone risk group or heart function class back to the name before it."""
    out: list[str] = []
    for name in names:
        if out and _QUALIFIER.fullmatch(name):
            out[-1] += f"，{name}"
        else:
            out.append(name)
    return out


def _joined(units: Sequence[str]) -> list[str]:
    out: list[str] = []
    for unit in (one.strip(" \t\n。；;?？") for one in units):
        if out and is_open(out[-1]):
            out[-1] += f"；{unit}"
        elif unit:
            out.append(unit)
    return out


def _split_unit(unit: str) -> list[str]:
    unit = _LEAD.sub("", unit)
    parts = cut(unit, "、，,")
    lists = len(parts) > 1 and all(is_disease(part) or _QUALIFIER.fullmatch(part) for part in parts)
    return parts if lists or len(unit) > LONGEST else [unit]


def _with_synonyms(name: str) -> Diagnosis:
    match = LAST_BRACKETS.fullmatch(name)
    if match is None:
        return Diagnosis(name=name)
    stem, inside = match[1], match[2].strip()
    alias = _ALIAS.fullmatch(inside)
    if alias:
        return Diagnosis(name=stem, synonyms=distinct(cut(alias[1], "、，,")))
    if _ABBREVIATION.fullmatch(inside) and not _NO_SYNONYM.match(inside):
        return Diagnosis(name=stem, synonyms=(inside,))
    return Diagnosis(name=name)
