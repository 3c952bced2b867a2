"""The items in a prose reading or closing summary, by dimension, with quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from meddc_bench.text import clauses, sentences, squash
from meddc_offline.judging.names import spoken
from meddc_offline.lexicon import Lexicon


class Found(msgspec.Struct, frozen=True):
    """An item with its dimension and the piece of text it was taken from."""

    text: str
    dimension: str
    quote: str


_HEADINGS: tuple[tuple[str, str], ...] = (
    (
        "skip",
        r"诊断(?:的)?(?:依据|理由|分析|思路)|依据|理由|分析|鉴别诊断|需(?:要)?鉴别|病史(?:摘要|总结|概括|"
        r"小结)?|主诉|"
        r"现病史|既往史|症状(?:总结|分析)?|病情(?:分析|总结|摘要)|推理(?:过程)?|排除(?:诊断)?|不支持点?|支持点|"
        r"体格检查|查体|检查结果|辅助检查结果",
    ),
    (
        "diagnosis",
        r"(?:诊断(?:结果|结论|意见|考虑|为|是)?|(?:初步|临床|最终|最后|主要|次要|目前|综合|入院|首要|第一|"
        r"最可能的?|"
        r"可能的?|考虑的?|推荐|其他|其它|合并|伴随|并发)+诊断(?:结果|为|是|考虑)?|印象|考虑(?:诊断)?|诊断与判断|"
        r"可能的?疾病|合并症|并发症|diagnos[ie]s)",
    ),
    (
        "tests",
        r"(?:(?:建议|推荐|需要?|进一步|辅助|完善|必要的?|相关|下一步)*(?:的)?(?:检查|检验|化验)(?:项目|建议|方案|"
        r"计划)?|tests?)",
    ),
    ("medication", r"(?:药物(?:治疗|建议|方案)?|用药(?:建议|方案|指导)?|处方|推荐用药|medications?)"),
    (
        "treatment",
        r"(?:(?:建议|推荐|初步|下一步)*(?:治疗|处理|处置|诊疗|干预|手术)(?:方案|建议|措施|计划|原则|意见)?|"
        r"treatments?)",
    ),
    (
        "lifestyle",
        r"(?:生活(?:方式|习惯)?(?:建议|指导|调整|干预|管理|方面)?|饮食(?:建议|指导|调整)?|日常(?:护理|注意|生活)|"
        r"健康(?:生活|管理)|lifestyle)",
    ),
    (
        "guidance",
        r"(?:(?:就医|随访|健康|医疗|复诊|护理)(?:指导|建议|计划|宣教|教育)|注意事项|医嘱|随访|复诊|温馨提示|建议|"
        r"指导|提醒|guidance|advice)",
    ),
)
_HEADING = re.compile(
    r"^\W*(?:[一二三四五六七八九十\d]+\s*[、.．)）]\s*)?\W*(?:"
    + "|".join(f"(?P<d{number}>{pattern})" for number, (_, pattern) in enumerate(_HEADINGS))
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
_NAME = re.compile(
    r"(?:病|症|炎|癌|瘤|征|结石|溃疡|梗死|梗塞|出血|骨折|感染|衰竭|贫血|高血压|哮喘|感冒|痛风|卒中|中风|心绞痛|"
    r"损伤|破裂|狭窄|硬化|增生|囊肿|息肉|积液|脱垂|突出|疝|痔|结核|中毒|抑郁|焦虑|障碍|癫痫|失调|不全|亢进|减退|"
    r"早搏|房颤|颤动|过速|梗阻|穿孔|扭转|妊娠|流产|脱位|劳损|疹|疱疹|癣|疮|斑|紫癜|惊厥|夹层|脓肿|缺血|子痫|脱离|"
    r"白内障|青光眼|聋|眩晕|头痛|神经痛|反流|肥厚|肌无力|热|气胸|水肿|血栓|形成|栓塞|休克|套叠|早剥|剧吐|"
    r"前置胎盘|甲亢|甲减|麻痹|干眼|近视|结节|不良|暂停|上感|综合症)(?:[(（].*[)）])?$"
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
        yield from _bare(text)


def _sections(text: str) -> Iterator[tuple[str | None, str]]:
    """Give each line with the dimension of the heading it stands under (None: under none)."""
    current: str | None = None
    for line in _cut(text):
        heading = _HEADING.match(line[:80])
        if heading:
            current = _HEADINGS[next(n for n in range(len(_HEADINGS)) if heading[f"d{n}"])][0]
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


def _diagnoses(line: str) -> Iterator[Found]:
    """Read a line of a diagnosis section: names, or a sentence that names them; where the lesion lies is no item."""
    body = _WHERE.sub("", _stripped(line))
    first = next(iter(sentences(body)), None)
    if first is not None and (len(body) > 40 or "。" in body):
        reasoned = re.match(
            r"^(?P<name>[^，,。:：（(]{2,24}?)(?:\s*[（(][^)）]*[)）])?\s*(?:[:：]|[-—–]{1,2}|。|，(?=(?:患者|依据|"
            r"因|根据|表现|支持|该|可能性)))",
            body,
        )
        if reasoned and (_NAME.search(reasoned["name"]) or Lexicon.load().canonical_disease(reasoned["name"])):
            yield from _named(reasoned["name"])
            return
        named = list(_asserted(body))
        if named:
            yield from named
            return
        body = first.text
    for piece in _pieces(body):
        for part in re.split(
            r"(?<=.{2})(?:或者?|不(?:能)?(?:排除|除外)|合并(?=.{2})|(?<=[病炎症征])(?:伴有?|和|及|与|以及|"
            r"并)(?=.{2}))",
            _stripped(piece),
        ):
            yield from _named(part, loose=True)


def _named(text: str, *, loose: bool = False) -> Iterator[Found]:
    """Give a diagnosis without hedges, unless it is negated or excluded."""
    quote = _stripped(text)
    reading = spoken(quote)
    if not quote or reading.negated or not reading.names or len(quote) > 40:
        return
    name = _unhedged(quote)
    if _ANATOMY.search(name) and not Lexicon.load().canonical_disease(name):
        return
    if name and (loose or _NAME.search(name) or Lexicon.load().canonical_disease(name)):
        yield Found(name, "diagnosis", quote)


_HEDGE_BEFORE = re.compile(
    r"^(?:我(?:认为|觉得|判断|考虑|怀疑)|具体(?:为|是)|(?:最|很|极|较)?有?可能(?:的诊断)?(?:是|为|患有?)?[:：]?|"
    r"首先考虑|考虑(?:为|是|诊断为?)?|高度怀疑|怀疑(?:是|为)?|疑似|拟诊|倾向于?|初步|临床|诊断(?:为|是)?[:：]?|"
    r"患有|不(?:能)?(?:排除|除外)|一种|轻度的|典型的|存在|您|患者|合并|伴有|同时|主要|次要|其次(?:是|考虑)?|是|"
    r"为|有|[:：])+"
)
_HEDGE_AFTER = re.compile(
    r"(?:\s*[（(]\s*(?:可能(?:性[大高中低小]?)?|暂定|待定|待查|待排|待排除|疑似|首先考虑|首选|最可能|考虑|待除外|"
    r"概率.*|可能性.*|\d+%|.*待查)\s*[)）]|的?可能性?(?:较|很|最|比较)?大?|待查|待排除?|待除外|待明确|[?？]|的诊断|"
    r"的可能)+$"
)


def _unhedged(text: str) -> str:
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
    for piece in re.split(r"[、/]|或者?|(?<=.{2})(?:和|及|与|以及|伴有?|合并|并发)(?=.{2})", head):
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
