"""The items in a prose reading or closing summary, by dimension, with quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from meddc_bench.text import clauses, sentences, squash
from meddc_offline.judging.names import CLASSES, spoken
from meddc_offline.judging.vocabulary_names import HEADINGS, NAME_END, NO_DISEASE, PART_OF
from meddc_offline.lexicon import Lexicon


class Found(msgspec.Struct, frozen=True):
    """An item with its dimension and the piece of text it was taken from."""

    text: str
    dimension: str
    quote: str


_HEADING = re.compile(
    r"^\W*(?:[一二三四五六七八九十\d]+\s*[、.．)）]\s*)?\W*(?:"
    + "|".join(f"(?P<d{number}>{pattern})" for number, (_, pattern) in enumerate(HEADINGS))
    + r")(?:\s*[(（][^)）]{0,12}[)）])?\s*(?:\*\*)?\s*(?:[:：#＃]+|[】\]]+[:：]?|(?=\s*$))\s*(?:\*\*)?",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"^\s*(?:[-*•·>#]+|\(?（?\d{1,2}\s*[.、．)）:：](?!\d)|[①-⑳]|[（(]?[一二三四五六七八九十][)）、.])\s*|"
    r"^\*\*|\*\*$"
)
_SPLIT = re.compile(r"[；;]|(?<!\d)[,，、](?!\d)|[,，、](?=\d{1,2}[.、)）])|(?<=.)(?=\s\d{1,2}[.、)）](?!\d))")
_CUE = re.compile(
    r"(?:(?:初步|临床|最终|目前|主要|综合|首先|优先|高度|重点|更|倾向|最)*(?:诊断|考虑|怀疑|疑似|倾向|印象|"
    r"判断)(?:上)?(?:结果|结论|意见)?(?:考虑|倾向于?|为|是|于|患者|您|可能|存在|患有?|的是|[:：])*|确诊(?:为|"
    r"是)?|"
    r"(?:很|最|极|较|大)?有?可能(?:的诊断)?(?:是|为|患有?|存在|属于|得了)|(?:符合|提示|支持|属于|患有|患了|得了|"
    r"得的是|像是)|不(?:能)?(?:排除|除外)|(?:合并|伴有?|同时(?:存在|有|合并)|并发|以及|兼有))\s*"
)
_STRONG = re.compile(r"诊断|考虑|怀疑|疑似|倾向|印象|可能|确诊|符合|提示|患有|得的是|像是|属于|患了|得了|支持|判断")
_END = re.compile(
    r"(?:的(?:可能性?|诊断|表现|特点|典型|情况|患者)|可能性?(?:最|较|更|很|比较)?大|引起的?|导致的?|所致的?|"
    r"造成的?|相关|引发|待查|待排|需|建议|应|请|,|，|。|；|;|！|!|\n|（依据|因为|由于|但|但是|而|首先|需要|目前|"
    r"其次|$)"
)
_NO = re.compile(r"^(?:无|暂无|未提及|不详|没有|none|n/?a|略|待定)\W*$", re.IGNORECASE)


def items(text: str, top_k: int) -> tuple[Found, ...]:
    """List the items of a text by dimension, in order, each once; at most top_k diagnoses."""
    found: list[Found] = []
    seen: set[tuple[str, str]] = set()
    for one in _all(text):
        key = (one.dimension, squash(one.text))
        if key[1] and key not in seen and not _NO.match(one.text):
            seen.add(key)
            found.append(one)
    diagnoses = [one for one in found if one.dimension == "diagnosis"][:top_k]
    return (*diagnoses, *(one for one in found if one.dimension != "diagnosis"))


def _all(text: str) -> Iterator[Found]:
    sections = list(_sections(text))
    headed = any(dimension == "diagnosis" for dimension, _ in sections)
    for dimension, line in sections:
        if dimension == "skip":
            continue
        if dimension is not None and dimension != "diagnosis":
            yield from _listed(line, dimension)
        elif dimension == "diagnosis":
            yield from _diagnoses(line)
        elif not headed:
            yield from _asserted(line)
    if not headed and not any(True for dimension, line in sections if dimension is None for _ in _asserted(line)):
        remarks = [line for dimension, line in sections if dimension == "tests" and not _MARK.match(line)]
        found = [one for line in remarks for one in _asserted(line)]
        yield from found or _bare(text)


def _sections(text: str) -> Iterator[tuple[str | None, str]]:
    """Give each line with the dimension of the heading it stands under (None: under none)."""
    current: str | None = None
    for line in _cut(text):
        heading = _HEADING.match(line[:80])
        if heading:
            current = HEADINGS[next(n for n in range(len(HEADINGS)) if heading[f"d{n}"])][0]
            rest = line[heading.end() :]
            if rest.strip(" #*：:"):
                yield current, rest
            continue
        if current is not None and re.match(r"^\s*#{1,6}\s|^\s*\*\*[^*]{2,20}\*\*\s*[:：]?\s*$", line):
            current = "skip" if not re.search(r"诊断", line) else current
            continue
        yield current, line


_LONGEST_TEXT, _LONGEST_LINE = 30_000, 600


def _cut(text: str) -> Iterator[str]:
    """Give the lines that are not blank, cut to a length that no rule needs to pass."""
    for line in text[:_LONGEST_TEXT].splitlines():
        if line.strip():
            yield line[:_LONGEST_LINE]


def _stripped(text: str) -> str:
    before = None
    while before != text:
        before, text = text, _MARK.sub("", text.strip()).strip(' *#。.；;，,、“”"')
    return text


def _pieces(line: str) -> Iterator[str]:
    """Cut a line into items; separators inside brackets do not cut."""
    depth, start = 0, 0
    cuts = {match.start(): match.end() for match in _SPLIT.finditer(line)}
    for at, char in enumerate(line):
        depth += (char in "(（[【") - (char in ")）]】")
        if at in cuts and depth <= 0:
            yield line[start:at]
            start = cuts[at]
    yield line[start:]


def _listed(line: str, dimension: str) -> Iterator[Found]:
    for piece in (
        _pieces(line) if len(line) < 60 or re.search(r"[；;]", line) else [span.text for span in clauses(line)]
    ):
        text = _stripped(piece)
        if 1 < len(text) <= 60:
            yield Found(text, dimension, piece.strip())


_WHERE = re.compile(
    r"(?<=[一-鿿)）])[,，;；:：、]?\s*(?:具体(?:为|是|表现为|部位)|(?:病灶|部位|主要)?(?:位于|累及|分布(?:于|在)))[^。；;\n]*"
)
_ANATOMY = re.compile(r"(?:区|叶|旁|脑室|中心|段|侧|部位?|处|丘脑|脑干|小脑)$")


_SPECIFIC = re.compile(r"[,，;；:：、]\s*具体(?:为|是|包括|表现为)\s*(?P<rest>[^。；;\n]*)")
_EXAMPLES = re.compile(r"[（(](?:如|例如|比如|可能|包括|原因|考虑|需|待)[^（()）]*[)）]")


def _located(line: str) -> str:
    """Leave out where the lesion lies; what names the disease more closely takes the broader name's place."""
    specific = _SPECIFIC.search(line)
    if specific is not None:
        before = re.split(r"[、；;。]", line[: specific.start()])[-1]
        names = [piece for piece in _parts(specific["rest"]) if piece]
        if _unhedged(before) in CLASSES and names and all(_is_named(name) for name in names):
            return line[: specific.start()].removesuffix(before) + specific["rest"] + line[specific.end() :]
    return _WHERE.sub("", line)


def _is_named(text: str) -> bool:
    """Say whether a piece ends as the name of a disease."""
    name = _unhedged(text)
    return bool(name) and (NAME_END.search(name) is not None or Lexicon.load().canonical_disease(name) is not None)


_JOINTS = re.compile(
    r"(?<=.{2})(?:或者?|[，,]?但?(?:并?不(?:能)?(?:完全)?(?:排除|除外)))|(?:并?伴|合并)有?+(?=.{2})|并发(?!症|展)(?=.{2})|"
    r"(?<=.{2})(?:和|及|与|以及|并(?!发症|破入|侵|转移|累及|波及))(?=.{2})"
)
_AFTER_NAME = re.compile(r"和|及|与|以及|并|(?:并?伴|合并)有?|并发")


def _is_part(disease: str, added: str) -> bool:
    """Say whether what is added is a state or complication that stays with the disease before it."""
    if disease.endswith("糖尿病") and re.match(r".{0,4}(?:神经|肾病|视网膜|眼|足|酮症|血管病变)", added):
        return True
    return PART_OF.match(added) is not None


def _parts(text: str) -> list[str]:
    """Cut at 、 and at words that join names, outside brackets; 和, 伴 and the like join only after a name."""
    out: list[str] = []
    for piece in _pieces(text):
        start = 0
        for joint in _JOINTS.finditer(piece):
            left = piece[start : joint.start()]
            inside = len(re.findall(r"[(（]", piece[: joint.start()])) > len(
                re.findall(r"[)）]", piece[: joint.start()])
            )
            joins = _AFTER_NAME.fullmatch(joint.group()) is not None
            if inside or (joins and not _is_named(left)):
                continue
            if joins and joint.group()[0] in "并伴合" and _is_part(left, piece[joint.end() :]):
                continue
            out.append(left)
            start = joint.end()
        out.append(piece[start:])
    return out


def _diagnoses(line: str) -> Iterator[Found]:
    """Read a line of a diagnosis section: names, or a sentence that names them; where the lesion lies is no item."""
    body = _located(_stripped(line))
    first = next(iter(sentences(body)), None)
    if first is not None and (len(body) > 40 or "。" in body):
        reasoned = re.match(
            r"^(?P<name>[^，,。:：（(]{2,24}?)(?:\s*[（(][^)）]*[)）])?\s*(?:[:：]|[-—–]{1,2}|。|，(?=(?:患者|依据|"
            r"因|根据|表现|支持|该|可能性)))",
            body,
        )
        if reasoned and (NAME_END.search(reasoned["name"]) or Lexicon.load().canonical_disease(reasoned["name"])):
            yield from _named(reasoned["name"])
            return
        named = list(_asserted(body))
        if named:
            yield from named
            return
        body = first.text
    for part in _parts(body):
        yield from _named(_caused(_stripped(part)), loose=True)


_CAUSED = re.compile(r"(?P<cause>.{3,}?)(?:所?导致|引起|所致|造成)的?(?P<effect>.+)")


def _caused(text: str) -> str:
    """Keep the cause where what it causes is a complaint and no disease (颈椎病引起的手麻)."""
    match = _CAUSED.fullmatch(text)
    causes = match is not None and _is_named(match["cause"]) and not _is_named(match["effect"])
    return match["cause"] if match is not None and causes else text


def _named(text: str, *, loose: bool = False) -> Iterator[Found]:
    """Give a diagnosis without hedges, unless it is negated or excluded."""
    quote = _stripped(text)
    reading = spoken(quote)
    if not quote or reading.negated or not reading.names or len(quote) > 40:
        return
    name = _unhedged(_EXAMPLES.sub("", quote))
    if NO_DISEASE.search(name):
        return
    if _ANATOMY.search(name) and not Lexicon.load().canonical_disease(name):
        return
    if name and (loose or NAME_END.search(name) or Lexicon.load().canonical_disease(name)):
        yield Found(name, "diagnosis", quote)


_HEDGE_BEFORE = re.compile(
    r"^(?:的|(?:并|但)(?=[不伴可]|有|已)|(?:并?不|不)能?(?:完全)?(?:排除|除外)|并?伴有?|(?:发展|进展|演变)(?:为|成)|特别是|尤其是|由于|"
    r"(?:可能的?)?(?:疾病|诊断|病因)(?:有|是|为|包括)|我(?:认为|觉得|判断|考虑|怀疑)|具体(?:为|是)|(?:最|很|极|较)?有?可能(?:的诊断)?(?:是|为|患有?)?[:：]?|"
    r"首先考虑|考虑(?:为|是|诊断为?)?|高度怀疑|怀疑(?:是|为)?|疑似|拟诊|倾向于?|初步|临床|诊断(?:为|是)?[:：]?|"
    r"患有|不(?:能)?(?:排除|除外)|一种|轻度的|典型的|存在|您|患者|合并|伴有|同时|主要|次要|其次(?:是|考虑)?|是|"
    r"为|有|[:：])+"
)
_HEDGE_AFTER = re.compile(
    r"(?:\s*[（(]\s*(?:可能(?:性[大高中低小]?)?|暂定|待定|待查|待排|待排除|疑似|首先考虑|首选|最可能|考虑|待除外|"
    r"概率.*|可能性.*|\d+%|.*待查)\s*[)）]|的?可能性?(?:较|很|最|比较)?大?|待查|待排除?|待除外|待明确|[?？]|的诊断|"
    r"的可能|(?<=.{2})等)+$"
)


def _unhedged(text: str) -> str:
    text = re.sub(r"疑似(?=并|伴|合并)", "", text)
    return _HEDGE_AFTER.sub("", _HEDGE_BEFORE.sub("", text)).strip(" *。.；;，,、")


def _asserted(line: str) -> Iterator[Found]:
    """Read the diagnoses a sentence asserts after a cue: 考虑A，不排除B."""
    for sentence in sentences(line):
        if re.search(r"[?？]$", sentence.text) or re.search(r"^(?:如果|若|一旦)|^.{0,4}鉴别", sentence.text):
            continue
        strong = False
        where = _WHERE.search(sentence.text)
        for match in _CUE.finditer(sentence.text[: where.start()] if where else sentence.text):
            cue = match.group()
            before = sentence.text[max(0, match.start() - 3) : match.start()]
            strong = strong or _STRONG.search(cue) is not None or "排除" in cue
            if not strong or (re.search(r"[不无未没]$", before) and not cue.startswith("不")):
                continue
            if re.search(r"(?:需要?|以|进一步|为了|用于|便于|可以|帮助|才能)[^，,]{0,4}$", before) and "排除" in cue:
                continue
            rest = _WHERE.sub("", sentence.text[match.end() :])
            stop = _END.search(rest)
            yield from _run(rest[: stop.start()] if stop and stop.start() else rest, rest)


def _run(head: str, rest: str) -> Iterator[Found]:
    """Read the names of a run such as `A、B或C`; what does not look like a name is left."""
    for part in head.split("/"):
        for piece in _parts(part):
            yield from _named(piece)


def _bare(text: str) -> Iterator[Found]:
    """Read a text without headings and cues: lines or segments that are names."""
    for line in _cut(text):
        if (
            bold := re.match(r"\W*(?:\d{1,2}\s*[.、)）]\s*)?\*\*(?P<name>[^*]{2,30})\*\*\s*[:：]?(?P<rest>.*)", line)
        ) is not None:
            if not re.search(r"需(?:要)?排除|已排除|可排除|不支持|可能性小", bold["rest"][:20]):
                yield from _named(bold["name"])
            continue
        if len(line) > 120:
            continue
        for piece in _pieces(line):
            yield from _named(piece, loose=len(_stripped(text)) <= 20 and not re.search(r"[。，,?？]", text))


def lines(text: str, dimension: str = "diagnosis") -> tuple[Found, ...]:
    """List the lines of a text as items: the plainest extraction."""
    found = [(_stripped(line), line.strip()) for line in text.splitlines()]
    return tuple(Found(item, dimension, quote) for item, quote in found if item)
