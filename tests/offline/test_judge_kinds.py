"""Kinds of question that look alike and ask different things, or look different and ask the same."""

import asyncio
from dataclasses import dataclass

import pytest

from meddc_bench.contracts import JudgeView, PatientView, Reference
from meddc_bench.records import Fact, Item
from meddc_offline.grounded import Grounded
from meddc_offline.lexical import Lexical


@dataclass(frozen=True)
class Target:
    """A target that a question should reach, or not."""

    question: str
    type: str
    facts: tuple[str, ...]


def credited(question: str, target: Target) -> bool:
    reference = Reference("q1", target.question, inquiry_type=target.type, facts=target.facts)
    view = JudgeView(
        "cover_targets", "trajectory", 0, items=(Item(id="u0", text=question, quote=question),), references=(reference,)
    )
    return bool(asyncio.run(Lexical().judge(view)).edges)


CYCLE = Target("头疼跟来月经有没有关系？", "course", ("每个月来月经头两天准疼。",))
EACH = Target("每一阵心慌要持续多长时间？", "course", ("一阵也就三五分钟，自己就过去了。",))
STOOL = Target("解大便的时候屁股里头疼吗？", "associated", ("蹲厕所的时候里面像刀割，擦纸上有一点血。",))
BELLY = Target("除了牙，心口窝这一带有没有不舒服？", "associated", ("心口窝常常发胀。",))
MARRIED = Target("过夫妻生活疼不疼？", "associated", ("同房时里面疼。",))
STRAINING = Target("便后有没有拉不干净、往下坠的感觉？", "associated", ("上完厕所还想去，老往下坠。",))
CARRIED = Target("身边有没有人长期咳嗽？", "personal", ("车间里有个工友咳了大半年。",))
SPUTUM = Target("痰里带过血丝没有？", "associated", ("痰里没见过血。",))
AURA = Target("发晕之前有没有什么兆头，比如耳朵响？", "associated", ("晕之前耳朵会先闷一下。",))
FIRST = Target("疼的地方最开始在哪里？", "site", ("最先是肚脐周围疼。",))
NOW = Target("除了手，现在别处肿不肿？", "course", ("脚脖子也肿了。",))
SPOT = Target("疼主要集中在膝盖的哪个部位？", "site", ("髌骨下面那一块最疼。",))
VOLUME = Target("小便的量和次数有什么变化？", "general", ("尿比以前多，一天十来次。",))
BLOOD = Target("血是什么颜色，跟大便混着还是滴下来的？", "character", ("鲜红的，拉完往下滴。",))
FACTORS = Target("灰尘、冷风会不会引起打喷嚏？", "modifying", ("一扫地就打一串喷嚏。",))
CHILDHOOD = Target("小时候喘过没有？", "past", ("小时候没喘过。",))
SLEEPERS = Target("有没有长期吃治失眠或者治头晕的药？", "medication", ("安眠药没吃过。",))
PREGNANT = Target("这段时间有没有可能怀孕？", "obstetric", ("上周验过，没怀孕。",))
NIGHTS = Target("夜里咳醒有多久了，几天一回？", "course", ("有一个月了，隔一天一回。",))
LIES = Target("平躺的时候憋不憋，要垫几个枕头？", "modifying", ("躺平就憋，得垫两个枕头。",))
FEVER = Target("发烧几天了，最高到多少度？", "course", ("烧了四天，最高39度2。",))
STREAM = Target("解小便顺不顺，尿线怎么样？", "character", ("尿线细，要使劲。",))
RELIEF = Target("什么情况下会变重，怎么能舒服些？", "modifying", ("蹲下就重，躺着能好些。",))
WHERE_RASH = Target("现在身上哪些地方有，哪些地方没有？", "site", ("两条小腿和后背都有，脸上没有。",))
PAIN_OR_NOT = Target("肚子痛不痛，具体在哪个位置？", "site", ("右边小肚子一阵一阵地痛。",))
SIGHT = Target("看东西清楚吗，视力有没有变差？", "severity", ("看远处发糊。",))
KIND_OF_PAIN = Target("是怎么个疼法？", "character", ("一抽一抽地疼。",))

APART = {
    "a cause and a link with the cycle": ("发病前吃了什么？", CYCLE),
    "the onset and the length of each attack": ("什么时候、怎么开始的？", EACH),
    "pain at another occasion": ("同房时疼吗？", STOOL),
    "pain at an act and trouble of another part": ("咽口水疼不疼？", BELLY),
    "the patient's cough and a contact's": ("一天里什么时候咳得厉害？", CARRIED),
    "sputum at all and blood in it": ("咳出来有痰吗？", SPUTUM),
    "the complaint and what comes before it": ("晕是一直晕还是一阵一阵？", AURA),
    "the present place and the first one": ("后来位置有没有变？", FIRST),
    "the first place and the rest of the body": ("最先从哪里肿的？", NOW),
    "the side and the spot": ("是一只膝盖还是两只膝盖，哪一只？", SPOT),
    "the foam and the volume of urine": ("小便泡沫多不多？", VOLUME),
    "the shape of the stool and the colour of the blood": ("大便是什么形状，干不干？", BLOOD),
    "the time of day and what brings it on": ("一天里什么时候喷嚏打得厉害？", FACTORS),
    "breathlessness now and in childhood": ("有没有胸痛、气短？", CHILDHOOD),
    "a symptom and a drug against it": ("有没有头晕、恶心？", SLEEPERS),
    "children born before and a pregnancy now": ("以前生过几个孩子？", PREGNANT),
    "a night as a setting and the hour of the complaint": ("晚上能平躺吗？", NIGHTS),
    "不舒服 and 舒服些": ("不舒服是什么时候、怎么开始的？", RELIEF),
    "floaters and acuity": ("眼前有没有飞蚊、闪光？", SIGHT),
    "how it began and what the pain is like": ("是怎么疼起来的，突然还是慢慢的？", KIND_OF_PAIN),
}
SAME = {
    "the link with the cycle in other words": ("来例假的时候头疼会不会加重？疼跟例假有关系吗？", CYCLE),
    "the length of each attack": ("每次发作多久能过去？", EACH),
    "同房 and 夫妻生活": ("同房时疼吗？", MARRIED),
    "words for tenesmus": ("有没有总想拉又拉不净的感觉？", STRAINING),
    "whose cough it is": ("周围有没有咳嗽的人？", CARRIED),
    "the whole body and the rest of it": ("是不是全身都肿？", NOW),
    "a named occasion and what brings it on": ("什么情况下容易打喷嚏，比如冷空气、油烟？", FACTORS),
    "lying flat in a bundle": ("晚上能平躺吗？", LIES),
    "one part of a bundle": ("最高烧到多少度？", FEVER),
    "a state and what the thing is like": ("尿线细不细？", STREAM),
    "named places and which places": ("疹子在小腿、后背吗？", WHERE_RASH),
    "whether and where": ("肚子疼不疼？", PAIN_OR_NOT),
}


@pytest.mark.parametrize(("question", "target"), APART.values(), ids=APART)
def test_a_doctor_gets_no_credit_for_a_need_it_did_not_ask(question, target):
    assert not credited(question, target)


@pytest.mark.parametrize(("question", "target"), SAME.values(), ids=SAME)
def test_a_doctor_gets_credit_for_the_same_need_in_other_words(question, target):
    assert credited(question, target)


FACTS = (
    Fact(id="f1", topic="identity", text="我三十五岁，做木工。"),
    Fact(id="f2", topic="character", text="胳膊不怎么疼，就是发酸。"),
    Fact(id="f3", topic="general", text="大小便都正常，胃口也好。"),
    Fact(id="f4", topic="prior_care", text="上个月在厂医院抽血化验过，说没问题。"),
    Fact(id="f5", topic="family", text="我爸手腕、脚腕常年又红又痒。"),
    Fact(id="f6", topic="associated", text="手背上起了一片红疹子，有点痒。"),
)


@pytest.mark.parametrize(
    ("question", "told", "kept"),
    [
        ("眼睛疼不疼？", None, "f2"),
        ("验过血、验过尿吗？", "f4", "f3"),
        ("手腕、脚腕的疹子痒不痒？", "f6", "f5"),
    ],
    ids=["pain at another part", "a test of urine and the urine", "the patient's skin and a relative's"],
)
def test_a_patient_keeps_back_what_belongs_to_another_part_test_or_person(question, told, kept):
    answer = asyncio.run(Grounded().answer(PatientView("", FACTS, (), (), question, "record", 0)))

    assert kept not in answer.fact_ids
    assert told is None or told in answer.fact_ids
