"""What information a question needs: its aspects, the things it names, and about whom it asks."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from meddc_bench.text import laterality, normalise, subject
from meddc_offline.judging.vocabulary_asking import ASPECTS, FACTORS, TOPICS
from meddc_offline.lexicon import Lexicon, Mention

_ASPECT = tuple((name, re.compile(pattern)) for name, pattern in ASPECTS.items())
_TOPIC = tuple((name, group, re.compile(pattern)) for name, (group, pattern) in TOPICS.items())
_FACTOR = tuple((name, re.compile(pattern)) for name, pattern in FACTORS.items())
_SETTING = re.compile(
    r"^(?!.{0,3}(?:什么|啥|哪|何)).{0,3}?(?:的时候|时候|时|起来|以后|之后|后|之前|以前|前|期间|的同时|以外|之外|发作|"
    r"那[天会阵]|的地方|"
    r"这[么样]|"
    r"的话)"
)
_BESIDES = re.compile(r"(?:除了|除)[^,，]{0,6}$")
_ATTRIBUTE = re.compile(
    r"什么(?!.{0,4}(?:不舒服|症状|不适|别的))|啥|哪|几(?!乎)|多少|多久|多长|多大|多高|怎么|怎样|如何|还是"
)
_OPEN = re.compile(
    r"(?:还有|有没有|有|另外)?(?:什么|哪些|别的|其他|其它|啥)(?:别的|其他)?(?:的)?(?:地方)?(?:不舒服|症状|不适|"
    r"情况|要说|补充|异常|问题|难受)|(?:还有|别的|其他)(?:吗|呢|没有|不舒服)|哪里(?:不舒服|难受|不适)|"
    r"哪儿(?:不舒服|难受)|怎么了|怎么回事|(?:说说|描述|讲讲|介绍).{0,6}(?:病情|情况|症状|经过)(?!的)"
)
_PAST = re.compile(r"以前|既往|过去|从前|曾经?|小时候|(?:得|患|生|做|住|输|犯|发作)过|病史|史(?:吗|[?？]|$|,)|老毛病")
_FAMILY = re.compile(
    r"家族|家里(?:人|面)?(?!.{0,4}(?:说|发现|看到|看您|觉得|听您|反映))(?!.{0,10}(?:也.{0,4}(?:发烧|拉|咳|感冒|"
    r"痒|起)|[一1]样|装修|养|住|通风|取暖|煤|炉|用|吃|烧|环境|有没有(?:猫|狗|宠)|猫|狗))|家人(?!.{0,6}(?:也|"
    r"[一1]样|说))|家属|父母|爸妈|爸爸|妈妈(?!的奶)|父亲|母亲|兄弟|姐妹|姊妹|亲戚|亲人|亲属|遗传|直系|长辈|血缘|"
    r"爷爷|奶奶|上[一1]辈|祖辈|爸|(?<![姨姑妈])妈(?!妈)"
)


class Need(msgspec.Struct, frozen=True):
    """What a text asks for (or, for a fact, tells): aspects, topics, findings, factors, sides and person."""

    text: str
    aspects: frozenset[str]
    topics: frozenset[str]
    groups: frozenset[str]
    findings: frozenset[str]
    setting: frozenset[str]
    wider: frozenset[str]
    complaints: frozenset[str]
    factors: frozenset[str]
    sides: frozenset[str]
    family: bool
    past: bool
    open: bool
    attribute: bool


@lru_cache(maxsize=16384)
def need(text: str) -> Need:
    """Analyse a question (or fact) once."""
    plain = normalise(text)
    lexicon = Lexicon.load()
    mentions = lexicon.find(text)
    setting = frozenset(mention.name for mention in mentions if _sets_scene(text, mention))
    findings = frozenset(mention.name for mention in mentions) - setting
    topics = [(name, group) for name, group, pattern in _TOPIC if pattern.search(plain)]
    family = _FAMILY.search(plain) is not None
    return Need(
        text=text,
        aspects=_aspects(plain, any(mention.kind == "character" for mention in mentions)),
        topics=frozenset(name for name, _ in topics),
        groups=frozenset(group for _, group in topics) | ({"family"} if family else frozenset()),
        findings=findings,
        setting=setting,
        wider=frozenset(wide for name in findings for wide in lexicon.ancestors(name)),
        complaints=frozenset(mention.name for mention in mentions if mention.kind in ("symptom", "sign")),
        factors=frozenset(name for name, pattern in _FACTOR if pattern.search(plain)),
        sides=laterality(plain) & frozenset({"左", "右"})
        if not re.search(r"左.{0,6}右|右.{0,6}左", plain)
        else frozenset(),
        family=family or any(subject(text, mention.start, mention.end) == "family" for mention in mentions),
        past=_PAST.search(plain) is not None,
        open=_OPEN.search(plain) is not None and not findings and not topics,
        attribute=_ATTRIBUTE.search(plain) is not None,
    )


_KIND = re.compile(
    r"什么样|怎么个|性质|感觉|哪种|哪[1一]种|怎样|怎么样|形容|像|滋味|何种|啥样|怎么(?:疼|痛)(?!起)|"
    r"[绞胀刺钝隐灼跳闷酸撕割拧揪](?:着)?(?:痛|疼)|拧着"
)


_BEGAN = re.compile(
    r"什么时候|啥时候|何时|哪[天年]|几号|从什么|从几|(?:多久|多长时间|多长|几天|几年|几个月|几周|多少天)了|有(?:多久|"
    r"多长时间|几天)|"
    r"多久以前|几(?:天|个?月|年|周)前|第[1一]次是|最早|头[1一][次回]|多大.{0,5}(?:开始|起|就)"
)
"""Words that ask when it began, beside how long each attack lasts."""
_AGE = re.compile(r"(?:宝宝|孩子|娃|今年)(?:现在|今年|是|有)?(?:几个月|多大|几岁)了?(?:[?？,，]|$)")
_EATEN = re.compile(
    r"(?:病|疼|痛|吐|拉|泻|舒服|难受|疹|发作)(?:[之以])?前(?:几天|[1一]天|那天|当天)?[^,，药]{0,4}[吃喝](?!.{0,8}药)"
)
_BY_DAY = re.compile(r"[1一]天(?:里头?|当中|之内|之中|内)[^,，]{0,4}变化")


def _aspects(plain: str, character: bool) -> frozenset[str]:
    """Find the aspects asked; a choice of course or degree (一直还是一阵) is no question of quality."""
    found = {name for name, pattern in _ASPECT if pattern.search(plain)}
    if character:
        found.add("quality")
    if "each" in found and not _BEGAN.search(plain):
        found.discard("when")
    if _AGE.search(plain):
        found.discard("when")
    if _EATEN.search(plain):
        found.discard("treated")
    if _BY_DAY.search(plain):
        found.discard("progress")
        found.add("timing")
    if found & {"pattern", "degree", "manner"} and not _KIND.search(plain):
        found.discard("quality")
    return frozenset(found)


def _sets_scene(text: str, mention: Mention) -> bool:
    """Say whether a finding is only the setting of what is asked: 胸闷的时候有没有出汗, 除了头痛还有恶心吗."""
    return bool(_SETTING.match(text[mention.end : mention.end + 8]) or _BESIDES.search(text[: mention.start]))
