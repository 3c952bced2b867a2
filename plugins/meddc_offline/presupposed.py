"""What a question takes as known: 疹子是全身都有吗？ makes sense only after a rash was mentioned."""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text import clauses, normalise

_PAIN = r"疼|痛|绞|胀|酸|难受|不舒服"
_RASH = r"疹|斑|红点|疙瘩|水[泡疱]|皮肤|风团|起了|痘|痒|癣|皮"
_LUMP = r"包|块|疙瘩|结节|肿|鼓|疝"
_RULES: tuple[tuple[str, str], ...] = (
    (r"(?<!起)疹子|红斑是|^斑|水泡是|身上的红点|起疹子前|白皮|痘印|皮肤.{0,3}砂纸|皮肤有没有抓", _RASH),
    (r"那个包|^包|鼓的包|硬块|摸到的包", _LUMP),
    (r"受伤那|轻轻碰一下就骨折", r"伤|摔|跌|撞|骨折|磕|车祸"),
    (r"^(每天)?痰|咳出来|^咳(的时候|完|到)|咳嗽(声音|多长)|连串停不下来的咳|吐痰", r"咳|痰"),
    (r"^喘(起来|是|比)|喘的时候", r"喘|气短|憋|气急|呼吸|哮"),
    (r"抽(的时候|完|之前)|发烧的时候抽", r"抽|惊厥|癫痫"),
    (r"^吐(的|出来|完|得)|吐得厉害", r"吐|呕|恶心"),
    (r"^晕(之前|倒多久|起来)", r"晕|昏|倒"),
    (r"^血是|尿血|大便(里|像)|拉(完|肚子多久)", r"血|便|拉|尿|泻|红"),
    (r"^心(慌|跳)是", r"心(慌|跳|悸|里)"),
    (r"托起来", r"睾丸|阴囊|蛋|下面"),
    (r"白带(发|像|有|是)", r"白带|分泌物|下面|下身|阴道"),
    (r"^溃疡", r"溃疡|口疮|嘴|口腔|烂"),
    (r"烧退|^烧之前|退烧后|一直烧着", r"烧|热|体温"),
    (r"^鼻涕(是|会)", r"鼻|涕|感冒|喷嚏"),
    (r"^头(是)?一边疼|头疼(是|前)|同一边的头疼|头是一边", r"头.{0,4}(疼|痛)|偏头|太阳穴"),
    (r"^是一边耳朵", r"耳|听"),
    (r"^牙疼|智齿疼", r"牙"),
    (r"脖子疼(会|有)", r"脖|颈"),
    (r"出血的时候|^血是暗", r"血|红"),
    (
        r"疼会不会|^(会|是).{0,14}疼(吗|还是)|更疼|疼的(地方|时候|那边)|^疼|疼得|还疼吗|不会更|加重|会不会(好|轻|更)|能缓解|好一些",
        _PAIN + r"|喘|咳|晕|麻|慌|闷|痒|肿|没劲|无力|吐|烧",
    ),
)
_COMPILED = tuple((re.compile(asked), re.compile(said)) for asked, said in _RULES)
_DENIED = re.compile(r"^(?:也|都|又)?(?:没|不|无|从不|从没|未)")


@lru_cache(maxsize=4096)
def told(text: str) -> str:
    """Keep of what a patient said the clauses that do not deny."""
    return ",".join(clause.text for clause in clauses(normalise(text)) if not _DENIED.search(clause.text))


def makes_sense(question: str, said: str) -> bool:
    """Say whether everything that a question takes as known was told."""
    return all(known.search(said) for known in _presupposed(question))


@lru_cache(maxsize=4096)
def _presupposed(question: str) -> tuple[re.Pattern[str], ...]:
    return tuple(known for asked, known in _COMPILED if asked.search(question))
