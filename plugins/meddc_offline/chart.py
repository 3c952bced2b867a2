"""What the turns of a consultation tell about the patient: findings with polarity, age, sex, onset, sides."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from meddc_bench.records import Turn
from meddc_bench.text import age, clauses, durations, laterality, normalise, sex, squash
from meddc_offline.lexicon import Lexicon
from meddc_offline.likeness import likenesses
from meddc_offline.measured import measured

_NEAR = 0.8

_AFFIRMED = re.compile(r"^(嗯|对|是|有|会|确实|经常|偶尔|有点|有一点|好像有|都有)")
_DENIED = re.compile(r"^(没|无|不|否|都没|都不|从来没|从没|未|没有)")
_RECURRENT = re.compile(
    r"反复|老是|总是|经常|时常|常常|时好时坏|断断续续|好几(回|次)|又犯|一犯|犯过|发作(过)?.{0,4}(次|回)|每(年|到|逢|次|个月).{0,8}(犯|发|疼|痛|来)|隔三差五|三天两头|一阵一阵"
)
_SUDDEN = re.compile(r"突然|一下子|猛(地|的)|忽然|骤然|突发")
_SINCE = re.compile(r"前|以来|开始|有.{0,6}了|了|持续|加重|快|近|这")
_HABIT = re.compile(
    r"烟|酒|工龄|结婚|退休|工作|年龄|今年|岁|高血压|糖尿病|以前|年轻|手术|每天|每次|一次|一天|术后|史|孕|月经|末次|生过|住院|吃.{0,8}药"
)
_WOMAN = re.compile(r"月经|例假|大姨妈|停经|怀孕|孕|白带|绝经|我老公|我丈夫|婆婆|剖宫产|生过(一|两|二|三|1|2|3)个?孩")
_MAN = re.compile(r"前列腺|睾丸|阴囊|我老婆|我媳妇|我爱人怀|丈母娘|我爸|老爷子|我爷爷|我儿子|小子")
_FEMALE_KIN = re.compile(r"我(妈|母亲|婆婆|奶奶|外婆|姥姥|闺女|女儿|老婆|媳妇)|老太太|女宝|小姑娘")
_SPOKEN_FOR = re.compile(
    r"我?(妈妈?|爸爸?|父亲|母亲|爷爷|奶奶|外公|外婆|姥姥|姥爷|老伴|老头子|老公|爱人|婆婆|公公|岳父|岳母)"
)
_CHILD = re.compile(r"孩子|宝宝|娃|小家伙|儿子|女儿|闺女|我家小")
_PAST = re.compile(
    r"以前|小时候|早年|年轻(的)?时|前年|当年|曾经|从前|早先|那年|\d+(多|来)?年前(?!开始|起)|(?<!从)(?<!打)去年(?!开始|起|底开始|就)|上学(的)?时候|头几年|生完|坐月子"
)
_HEARSAY = re.compile(r"说是|以为|当是|当成|怕是|是不是|怀疑|会不会|担心是|听人|网上|都说|按.{1,8}治|当.{1,6}治")
_REACTION = re.compile(r"(打|吃|用|抹|沾|碰|喝|挂).{1,10}(起过|会起|就起|过敏|起了?.{0,4}(疹|疙瘩|风团))|过敏|皮试")
_PARENT = re.compile(r"^(我|她爸|他爸|孩子(他|她)?爸|爸爸)(自己)?(也|有|是|小时候|以前|从小|年轻)")
_PREGNANT = re.compile(r"孕(?!酮)\d|怀孕|产检|胎动")
_LASTING = frozenset({"past", "medication", "allergy", "personal", "obstetric", "development", "family", "test"})


def _clause(text: str, start: int, end: int) -> str:
    found = clauses(text)
    at = bisect_right(found, start, key=lambda clause: clause.start) - 1
    return found[at].text if at >= 0 and start < found[at].end else text[start:end]


@dataclass(frozen=True, slots=True)
class Chart:
    """Findings by name with their strength (1 said, less when only implied), and what is known of the patient."""

    present: Mapping[str, float] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    chief: frozenset[str] = frozenset()
    known: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    age: float | None = None
    sex: str | None = None
    onset: frozenset[str] = frozenset()
    sides: Mapping[str, frozenset[str]] = field(default_factory=dict)
    chief_sides: frozenset[str] = frozenset()
    examined: bool = False
    text: str = ""


class Draft:
    """Gathers a chart turn by turn; `chart` gives it as it stands, and more turns may follow."""

    def __init__(self) -> None:
        self.lexicon = Lexicon.load()
        self.said: dict[str, float] = {}
        self.absent: set[str] = set()
        self.near: dict[str, float] = {}
        self.near_absent: set[str] = set()
        self.chief: set[str] = set()
        self.known: list[str] = []
        self.reported: list[str] = []
        self.sides: dict[str, set[str]] = {}
        self.texts: list[str] = []
        self.opening = ""
        self.examined = False
        self.of_child = False
        self.person = _Person()
        self._question = ""

    def take(self, turn: Turn) -> None:
        """Take in the next turn of the consultation."""
        if turn.role == "doctor":
            self._question = turn.text
        else:
            self.hear(turn, self._question)
            self._question = ""

    def hear(self, turn: Turn, question: str) -> None:
        """Take in a turn of the patient or the reporter, said in reply to `question`."""
        text = normalise(turn.text)
        self.of_child = self.of_child if self.texts else _CHILD.search(text) is not None
        self.person.hear(text, first=not self.texts)
        self.texts.append(text)
        mentions = self.lexicon.find(text)
        for mention in mentions:
            self._note(mention, turn, text)
        for name in measured(text):
            self.said[name] = 1.0
        if turn.role == "patient":
            self._likenesses(text, {mention.name for mention in mentions})
        self._sides(text, mentions)
        if turn.role == "reporter":
            self.examined = True
        elif question:
            self._short_answer(text, question, bool(mentions))
        if not self.opening:
            self.opening = text
            self.chief |= self._here()

    def _note(self, mention: Any, turn: Turn, text: str) -> None:
        if mention.kind == "disease":
            hearsay = _HEARSAY.search(_clause(text, mention.start, mention.end)) is not None
            if mention.polarity == "present" and mention.subject == "patient" and not hearsay:
                (self.reported if turn.role == "reporter" else self.known).append(mention.name)
            return
        if mention.subject != "patient" and mention.kind != "family":
            return
        if mention.polarity == "absent":
            self.absent.add(mention.name)
        elif mention.polarity == "present":
            clause = _clause(text, mention.start, mention.end)
            weight = self._bearing(clause, mention.kind)
            if mention.kind == "past" and not _HEARSAY.search(clause):
                self._known(text[mention.start : mention.end])
            self.said[mention.name] = max(weight, self.said.get(mention.name, 0.0))

    def _known(self, said: str) -> None:
        """Note a disease that the patient names as had: 高血压 for 高血压病, 糖尿病 for 2型糖尿病."""
        names = (self.lexicon.canonical_disease(form) for form in (said, f"{said}病", f"2型{said}"))
        self.known += [name for name in names if name is not None]

    def _bearing(self, clause: str, kind: str) -> float:
        """Weigh how far a finding bears on the present illness: less when past, hearsay or a reaction to a drug."""
        if kind in _LASTING:
            return 0.5 if _HEARSAY.search(clause) and kind != "family" else 1.0
        if _REACTION.search(clause) or (self.of_child and _PARENT.search(clause)):
            return 0.15
        if _PAST.search(clause):
            return 0.35
        return 0.5 if _HEARSAY.search(clause) else 1.0

    def _likenesses(self, text: str, exact: set[str]) -> None:
        """Note the findings that the text comes close to, unless the lexicon finds them exactly."""
        for likeness in likenesses(text):
            if likeness.name in exact:
                continue
            if likeness.present:
                kind = self.lexicon.findings[likeness.name].kind
                degree = likeness.degree * _NEAR * self._bearing(likeness.clause, kind)
                self.near[likeness.name] = max(degree, self.near.get(likeness.name, 0.0))
            else:
                self.near_absent.add(likeness.name)

    def _here(self) -> set[str]:
        """Name the findings noted so far, with their broader ones."""
        names = self.said.keys() | self.near.keys()
        return set(names).union(*(self.lexicon.ancestors(name) for name in names))

    def _sides(self, text: str, mentions: Sequence[Any]) -> None:
        for clause in clauses(text):
            if (sides := laterality(clause.text)) and not _PAST.search(clause.text):
                for mention in mentions:
                    if clause.start <= mention.start < clause.end and mention.polarity == "present":
                        self.sides.setdefault(mention.name, set()).update(sides)

    def _short_answer(self, text: str, question: str, informative: bool) -> None:
        """Apply 有 / 没有 / 不 to the findings that the doctor asked about."""
        plain = squash(text)
        if informative or len(plain) > 14:
            return
        asked = list(dict.fromkeys(mention.name for mention in self.lexicon.find(normalise(question))))
        if _DENIED.match(plain):
            self.absent.update(asked)
        elif _AFFIRMED.match(plain) and len(asked) == 1:
            self.said.setdefault(asked[0], 0.9)

    def chart(self) -> Chart:
        """Close the chart: broader findings of what is present are present, what was said outweighs what was denied."""
        said = dict(self.said)
        if "血压升高" in said and _PREGNANT.search("".join(self.texts)):
            said.setdefault("孕期血压高", 1.0)
        present = {name: near for name, near in self.near.items() if name not in self.absent} | said
        for name, strength in list(present.items()):
            for wider in self.lexicon.ancestors(name):
                present[wider] = max(present.get(wider, 0.0), 0.8 * strength)
        return Chart(
            present=present,
            absent=frozenset((self.absent | self.near_absent) - set(present)),
            chief=frozenset(self.chief),
            known=tuple(dict.fromkeys(self.known)),
            reported=tuple(dict.fromkeys(self.reported)),
            age=self.person.age,
            sex=self.person.sex,
            onset=self.person.onset(self.opening),
            sides={name: frozenset(sides) for name, sides in self.sides.items()},
            chief_sides=laterality(self.opening),
            examined=self.examined,
            text="\n".join(self.texts),
        )


class _Person:
    """Gathers age, sex and the course of the complaint from one text after the other."""

    def __init__(self) -> None:
        self.age: float | None = None
        self._stated: str | None = None
        self._woman = self._man = self._sudden = self._recurrent = False
        self._days: float | None = None

    def hear(self, text: str, *, first: bool) -> None:
        """Take in a text, of which the first is the opening."""
        if self.age is None:
            self.age = age(text)
            if self.age is None and first:
                self.age = age(_SPOKEN_FOR.sub("", text))
        if self._stated is None:
            self._stated = sex(text)
        self._woman = self._woman or _WOMAN.search(text) is not None or (first and _FEMALE_KIN.search(text) is not None)
        self._man = self._man or _MAN.search(text) is not None
        self._sudden = self._sudden or _SUDDEN.search(text) is not None
        self._recurrent = self._recurrent or _RECURRENT.search(text) is not None
        if self._days is None and not first:
            self._days = _complaint_days(text)

    @property
    def sex(self) -> str | None:
        """As first stated, or as the words used imply."""
        return self._stated or ("女" if self._woman else "男" if self._man else None)

    def onset(self, opening: str) -> frozenset[str]:
        """Class the course of the complaint: 急性 up to 2 weeks, 亚急性 up to 3 months, 慢性 beyond, 反复 in attacks."""
        found = set()
        days = _complaint_days(opening, True)
        days = self._days if days is None else days
        if days is not None:
            found.add("急性" if days <= 14 else "亚急性" if days <= 92 else "慢性")
        if self._sudden and (days is None or days <= 31):
            found.add("急性")
        if self._recurrent:
            found.add("反复")
        return frozenset(found)


def read_chart(turns: Sequence[Turn]) -> Chart:
    """Read the turns of a consultation into a chart."""
    draft = Draft()
    for turn in turns:
        draft.take(turn)
    return draft.chart()


@lru_cache(maxsize=8192)
def _complaint_days(text: str, opening: bool = False) -> float | None:
    longest: float | None = None
    for clause in clauses(text):
        if not opening and (_HABIT.search(clause.text) or not _SINCE.search(clause.text)):
            continue
        for duration in durations(clause.text):
            longest = max(longest or 0.0, float(duration.days))
    return longest


def is_child(chart: Chart) -> bool:
    """Say whether the patient is a child, by age or by how the parent speaks."""
    if chart.age is not None:
        return chart.age < 14
    return _CHILD.search(chart.text.split("\n", 1)[0]) is not None
