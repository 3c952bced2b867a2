"""The question units of a doctor's turn: one a need, each an exact piece of the text."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from meddc_bench.text.spans import Span, clauses, sentences, unmarked


class Unit(msgspec.Struct, frozen=True):
    """One question a doctor's turn asks; `quote` is `text[start:end]` of that turn."""

    quote: str
    start: int
    end: int


_INTERROGATIVE = re.compile(
    r"有没有|有没|有无|有木有|是否|是不是|会不会|能不能|可不可以|要不要|算不算|([一-鿿])不\1(?!可)|([一-鿿])没\2|"
    r"什么时候|啥时候|何时|多久|多长|多大|多高|多重|多深|多粗|多少(?!有点|有些)|什么(?!的|也|都)|啥(?!的|也|都)|"
    r"是[^,，]{1,12}还是|哪(?!怕)|怎么(?!也|都|得了|会这样)|怎样|咋|如何(?!处理)|为什么|为何|何种|"
    r"(?<![这前后好过十那])几(?!乎|率|个月来)|吗|呢|[没否]$|没有$|了没|过没|与否"
)
_WEAK = re.compile(r"什么|啥|怎么|哪|如何|几|多少|呢")
_NOT_ASKING = re.compile(
    r"没什么|没有什么(?!.*[?？])|没啥|不怎么|没怎么|无论|不管|不论|什么都|随便|任何|为什么会|不知道|不清楚|"
    r"告诉您|怎么办都|几乎|这几|那几|前几|好几|过几|后几|十几|几十|有几[天个]|几天(?:内|后|就|的药)|看看怎么"
)
_ADVICE = re.compile(
    r"建议|推荐|需要(?:您)?(?:做|进行|去|先|进一步|完善|查|检查)|最好(?:去|做|先|能)|应该(?:去|做|先|尽快)|应当|"
    r"(?:先|去|来)(?:做|查|拍|完善|安排)|请(?:您)?(?:做|去|到|按|务必|注意|尽快|及时|完成)|"
    r"以明确|以便|以确定|以了解|以排除|来确定|来明确|来判断|来排除|看是否|看看是否|检查是否|明确是否|确认是否|"
    r"判断是否|评估是否|确定是否|了解是否|观察是否|观察有没有|看看有没有|注意是否|注意有无|看有没有|"
    r"如果|若|一旦|假如|万一|避免|注意休息"
)
_REQUEST = re.compile(
    r"(?:请|麻烦|能否|能不能|可以|可否|跟我|给我|和我|再|先|您|你)*(?:详细|具体|仔细|简单|大概|大致|完整|"
    r"进一步)*(?:地)?(?:(?<!您的)(?<!你的)(?<!所)描述|说说|讲讲|说一说|讲一讲|谈谈|聊聊|说一下|讲一下|说明一下|"
    r"介绍一下|介绍|形容|补充|列举|回忆)|"
    r"请(?:您)?(?:告诉|告知|提供|说明|回答|说)|告诉我|和我说|跟我说|想(?:再)?(?:了解|问|知道|"
    r"确认)(?:一下)?.{0,20}(?:情况|病史|症状|饮食|睡眠|生活|习惯|史)|请问"
)
_REPORT = re.compile(
    r"(?:检查|化验|结果|完成|做完|检验|报告|复查|随时|如有|有任何).{0,12}(?:告诉|告知|提供|发给)|(?:告诉|告知|提供|"
    r"发给).{0,8}(?:结果|报告|检查)"
)
_TAG_ONLY = re.compile(
    r"(?:您?(?:看|觉得|说)?(?:这样|那)?(?:好|可以|行|对|是|明白|明白了|清楚|清楚了|听懂|听明白|懂|理解|能理解|"
    r"能接受|能配合|同意|方便)(?:了)?(?:吗|吧|么|不)|好不好|行不行|可不可以|您觉得呢|是吧|对吧|"
    r"好吧)[?？。!！~～\s]*"
)
_GREETING = re.compile(
    r"(?:您好|你好|早上好|下午好|晚上好|哈喽|嗨|好的|好|嗯+|嗯嗯|哦|明白了?|了解了?|知道了?|收到|谢谢.{0,8}|"
    r"感谢.{0,10}|别着急|不要着急|别担心|请问|医生|同学|先生|女士|大爷|阿姨|叔叔|那|那么|另外|还有|接下来|"
    r"首先|其次|"
    r"最后|对了|我想问|想问一下|我想再问一下|再问一下|问一下|请问一下|我明白了|我了解了|好的明白|OK|"
    r"ok)[。，,!！?？~～…\s]*"
)
_EXAMPLE = re.compile(
    r"(?:比如|例如|譬如|如(?!果|何|有)|像(?!.*吗)|包括|诸如|还是|或者|或是|或|以及|及|抑或|(?:是)?.{1,10}还是)"
)
_TOPIC = re.compile(
    r"(?:的时候|时|时候|后|以后|之后|之前|以前|前|以来|方面|的话|期间|平时|平常|最近|近期|目前|现在|过去|既往|另外|"
    r"除此之外|除了.*|当时|发作时|那|同时|您的.{1,8}|家里人?|这几天|这段时间|这次)$|^(?:除了|关于|对于|在|当|"
    r"从|平时|"
    r"自从|至于|说到)"
)
_TIME = re.compile(
    r"什么时候(?:开始|出现|起|发|有)|啥时候(?:开始|有)|何时|(?:持续|有|出现|疼|痛|病|咳|烧|拉|肿|痒|晕|"
    r"开始)了?多久|"
    r"多长时间|多久了|几天了|多少天|多少时间"
)
_OPEN = re.compile(r"(?:哪里|哪儿|什么|哪些)?(?:地方)?不舒服")


@lru_cache(maxsize=16384)
def question_units(text: str) -> tuple[Unit, ...]:
    """Cut a doctor's turn into question units; greetings, statements and advice give none."""
    found: list[Span] = []
    gap = True
    for raw in sentences(text):
        sentence = unmarked(text, raw)
        if sentence is None or _GREETING.fullmatch(sentence.text):
            continue
        if found and not gap and re.match(r"(?:比如|例如|譬如|像是|还是|或者是?|如(?!果|何|有))", sentence.text):
            found[-1] = _join(text, found[-1], sentence)
            continue
        units = _Sentence(text, sentence).units()
        gap = not units
        found += units
    return tuple(Unit(span.text, span.start, span.end) for span in found)


def _join(text: str, first: Span, last: Span) -> Span:
    return Span(first.start, last.end, text[first.start : last.end])


def _asks(clause: str) -> bool:
    """Say whether a clause asks by its own words."""
    if _REPORT.search(clause):
        return False
    if _REQUEST.search(clause) and not re.fullmatch(r"请问[，,]?", clause):
        return True
    return _INTERROGATIVE.search(_NOT_ASKING.sub("", clause)) is not None


class _Sentence:
    """Collects the units of one sentence, clause by clause: groups of clauses, and those that lead to the next."""

    def __init__(self, text: str, span: Span):
        self._text = text
        self._pieces = _pieces(span)
        self._marked = re.search(r"[?？]\W*$", span.text) is not None
        self._groups: list[list[Span]] = []
        self._lead: list[Span] = []
        self._advised = False

    def units(self) -> list[Span]:
        """Find the units."""
        for at, piece in enumerate(self._pieces):
            body = unmarked(self._text, piece)
            if body is None or _GREETING.fullmatch(body.text) or _TAG_ONLY.fullmatch(body.text):
                self._lead = []
            elif self._groups and not self._lead and _EXAMPLE.match(body.text):
                self._groups[-1].append(body)
            else:
                self._take(body, self._marked and at == len(self._pieces) - 1)
        self._close()
        return [_join(self._text, group[0], group[-1]) for group in self._groups]

    def _take(self, body: Span, last: bool) -> None:
        advice = _ADVICE.search(body.text) is not None
        asks = self._really_asks(body.text, advice, last)
        if asks:
            self._ask(body)
            self._lead = []
        elif self._groups and not advice and not self._lead and _continues(body.text, self._marked):
            self._groups[-1].append(body)
        else:
            self._lead.append(body)
        self._advised = advice or (self._advised and not asks)

    def _really_asks(self, clause: str, advice: bool, last: bool) -> bool:
        """Say whether a clause asks, not merely advises with an interrogative in it (看看是否缺血)."""
        if not _asks(clause):
            return False
        if advice:
            return last and re.search(r"建议|是否需要", clause) is None
        weak = _WEAK.search(clause) is not None and re.search(r"有没有|吗|是不是", clause) is None
        return not (weak and self._advised and not self._marked)

    def _ask(self, body: Span) -> None:
        if self._groups and not self._lead and _one_need(self._groups[-1], body):
            self._groups[-1].append(body)
        elif not self._groups and self._lead and body.text.startswith(("还是", "或者")):
            self._groups.append([self._lead[-1], body])
        else:
            self._groups.append([*_context(self._lead), body])

    def _close(self) -> None:
        """Take the last clause before a question mark though no word of its own asks: 疼得厉害？"""
        if not (self._marked and self._lead) or self._advised:
            return
        if len(self._lead) > 1 and self._lead[-1].text.startswith(("还是", "或者")):
            self._groups.append(self._lead[-2:])
            return
        stated = _statement(self._lead[-1].text)
        if not stated or (not self._groups and len(self._lead) == len(self._pieces)):
            self._groups.append([*_context(self._lead[:-1]), self._lead[-1]])


def _pieces(sentence: Span) -> tuple[Span, ...]:
    """Cut one sentence into clauses at their places in the whole text."""
    return tuple(
        Span(sentence.start + piece.start, sentence.start + piece.end, piece.text) for piece in clauses(sentence.text)
    )


def _context(lead: list[Span]) -> list[Span]:
    """Keep of the clauses before a question those that set its scene: 活动的时候，会喘吗？"""
    kept: list[Span] = []
    for piece in reversed(lead):
        if len(piece.text) <= 14 and _TOPIC.search(piece.text.rstrip("，,：:")) and not _statement(piece.text):
            kept.insert(0, piece)
        else:
            break
    return kept


def _statement(clause: str) -> bool:
    return (
        re.search(
            r"根据|听起来|看来|可能|考虑|了解|明白|谢谢|感谢|为了|所以|因此|建议|诊断|我需要|我们需要|需要", clause
        )
        is not None
    )


def _one_need(group: list[Span], body: Span) -> bool:
    """Say whether a clause only asks the need of the unit before it again: 什么时候开始的，持续多久了？"""
    before = group[-1].text
    if _TIME.search(before) and _TIME.search(body.text):
        return True
    if _REQUEST.search(before) and not _INTERROGATIVE.search(before) and len(before) <= 12:
        return True
    return bool(re.match(r"(?:具体)?(?:是)?(?:什么样的?|怎样的|怎么样的?)[?？]?$", body.text)) and not _TIME.search(
        before
    )


def _continues(clause: str, marked: bool) -> bool:
    """Say whether a clause without an interrogative runs on from the question before it: 有没有发热，怕冷？"""
    return len(clause) <= 16 and not _statement(clause) and (marked or len(clause) <= 8)
