"""What an answer to a question of an aspect looks like: 什么时候 wants a time, 什么颜色 a colour."""

from __future__ import annotations

import re

_TIME = r"\d|[一二两三四五六七八九十半几]+(?:来|多)?个?(?:天|周|月|年|小时|钟头|礼拜|星期|分钟|点)"
_SIGNS = {
    "when": rf"{_TIME}|昨|前天|今早|今天|去年|前年|春节|开始|起的|起先|头一|最早",
    "manner": r"突然|一下|猛|慢慢|逐渐|渐|越来越|开始|一点点|起先|起初|最早|刚",
    "cause": r"[后完]|着凉|受凉|累|当时|正|那天|之前|前|生气|感冒|搬|摔|吵|碰|熬|打那|原因|诱因|就",
    "where": r"左|右|边|中间|位置|地方|里头|外侧|内侧|上面|下面|两|整|半|固定|一块|一片",
    "radiate": r"[串窜跑扯挪]|跟着|往|连着|牵|带着|固定|转移",
    "quality": r"像|[胀刺绞烧闷跳酸钝木麻]|似的|一样|感觉",
    "colour": r"颜色|[红黄白黑绿棕褐清脓血稀稠浓色黏粘臭腥]|泡沫|块|干|硬|软",
    "amount": r"\d|多|少|杯|碗|瓶|量|湿透|几|点",
    "degree": r"受不|忍|分|厉害|轻|醒|能|不了|最|死|很|特别",
    "impact": r"不能|不敢|醒|睡|走|上班|干活|耽误|影响|能|不了|得歇|只能|没法|照",
    "temperature": r"度|烧|热|体温|℃",
    "each": r"分钟|小时|钟头|秒|会儿|半天|持续|过去|一阵",
    "frequency": r"次|回|趟|每|天天|遍|经常|天一|隔|频",
    "pattern": r"一阵|一直|有时|断|停|犯|早|晚|夜|反复|老是|总|不是一",
    "progress": r"越来越|加重|重|轻|好|后来|再|现在|变|比",
    "timing": r"早|晚|夜|白天|饭|半夜|下午|凌晨|时候|一天|睡",
    "before": r"以前|从前|头一|第一|从来|从没|原来|年|也|上次|又|小时候|没这",
    "relief": r"好|轻|舒|缓|管用|歇|消|没用|一样|都",
    "worse": r"重|厉害|更|加|就|一.{1,5}疼|不疼|一样|都",
    "seen": r"医院|医生|大夫|诊所|社区|看|门诊|卫生|校医|护士",
    "tests": r"查|片|超|血|量|测|图|镜|ct|验|指标|体检|结果|照|化",
    "treated": r"药|吃|用|打|贴|治|抹|挂|喝|按|滴|敷|片|头孢|芬",
    "effect": r"管用|好|没用|效|退|不见|没见|顶事|减|轻|没消|又",
    "dose": r"片|粒|针|吃了|天|停|次|一直|按时",
    "control": r"\d|量|控制|稳|高|低",
    "react": r"疹|痒|肿|过敏|起|晕|吐",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _SIGNS.items()}


def signs(text: str) -> frozenset[str]:
    """Name the aspects of which a normalised answer shows a sign."""
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(text))
