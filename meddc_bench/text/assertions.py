"""Where a doctor asserts a diagnosis inside a dialogue.

An assertion is a clause, not itself a question, in which the doctor names a condition as the diagnosis or as likely:
诊断为X, 印象：X, 考虑X, 可能是X, 怀疑X, 倾向于X, 符合X, 提示X, 您得的是X, 应该是X引起的.
A list of names under a heading such as 可能的原因： is an assertion too. No assertion are questions (是不是X？, 有没有X？),
history and what other doctors said (以前诊断过X吗, 您提到患有X, 急诊医生怀疑X), plans to examine (需要排除X, 以明确是否X,
不排除X alone), conditions to prevent or to watch for, a word that names no condition (神经系统疾病, 感染 alone), an open
list of examples (包括但不限于X), and X negated.
"""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text.spans import Span, sentences

MASK, MASK_EN = "〔此处略去诊断〕", "[diagnosis omitted]"
_HAN, _LATIN = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[A-Za-z]{3}")

_VAGUE = (
    "系统", "系统的", "其他", "其它", "多种", "某种", "某些", "一些", "一种", "这种", "这类", "严重", "严重的", "常见",
    "常见的", "罕见", "罕见的", "慢性", "慢性的", "急性", "先天性", "既往", "相关", "相关的", "潜在", "潜在的", "神经肌肉",
    "全身性", "全身", "基础", "种可能的",
)  # fmt: skip
_ANY = "".join(rf"(?<!{word}疾)" for word in _VAGUE)
_NAME = (
    rf"(?:(?:{_ANY}病)(?!史|因|情|人|毒|程|历|房|例|灶|原|理|变|菌)|症(?!状)|炎(?!症指标)|癌|瘤|综合征|综合症|结石|溃疡|"
    r"梗死|梗塞|出血|骨折|(?<![是于由有的或和为被些])感染|衰竭|贫血|高血压(?!史)|糖尿病|哮喘|感冒|痛风|卒中|中风|心绞痛|损伤|破裂|"
    r"狭窄|硬化|增生|囊肿|息肉|积液|脱垂|突出|疝|痔疮?|肿瘤|结核|中毒|抑郁|焦虑|障碍|癫痫|失调|功能不全|功能亢进|"
    r"甲亢|甲减|早搏|房颤|心动过速|梗阻|穿孔|扭转|妊娠|流产|脱位|劳损|"
    r"湿疹|荨麻疹|疱疹|癣|白血病|血栓|栓塞|气胸|肺气肿|肝硬化|脂肪肝|胆石|紫癜|惊厥|黄疸型|夹层|动脉瘤|脓肿|缺血|"
    r"心肌炎|先兆子痫|子痫|脱离|白内障|青光眼|耳聋|眩晕症|偏头痛|神经痛|风湿|痛经|异位|良性增大|反流|破水|早产|"
    r"肺不张|肿大|结节|肥厚|肌无力|肌阵挛|登革热|型头痛|性头痛|癫痫发作|心律失常|心衰|耳鸣病|息肉病|发育迟缓|"
    r"休克|坏死|过敏反应|(?:神经|血管|视网膜|心肌|瓣膜|关节|髓鞘|占位性?)病变|"
    r"颤动|扑动|传导阻滞|(?:消化|营养)不良|脱水|功能减退|低血压|面瘫|偏瘫)"
    r"(?!药|史|病史|的?风险|检查|专科|因素|家族|的?可能性(?:较|很|比较)?(?:低|小)|并发)"
)
_CUE = (
    r"(?:(?:初步|临床|最后|最终|目前|入院|我的|主要)*诊断(?:结果|意见)?(?:是|为|上?考虑|倾向于?|[:：])|确诊(?:为|"
    r"是)|印象[:：]|诊断结果#|(?:很|最|大|极)?有?可能(?:是|为|患有?|得了|存在|出现了?|有|属于|属|与|和|由|由于|涉及到?|"
    r"因为|引起|是由|正在经历|患上?了?|发生了?|的(?:原因|诊断)[^。]{0,8}(?:是|为|包括|有|[:：]))|"
    r"(?:首先|主要|初步|重点|高度|优先|倾向|更|多|先)*考虑(?!到)(?:是|为|您|患者|可能|存在|患有?|诊断|[:：])?|"
    r"怀疑(?:是|为|您|患者|可能|存在|患有?|有)?|疑似|倾向于|(?:符合|支持|像是|很像|类似|指向|提示|表明|"
    r"显示(?:您)?(?:有|患|存在)|意味着)|"
    r"(?:您|你|这|患者|孩子|病人)(?:的(?:情况|症状|病情|问题|表现))?(?:很|应该|大概率|多半|估计|基本|大概|就|"
    r"确实|已经|目前|似乎)*(?:是|属于|得的是|患的是|患有|得了|患了)|"
    r"应该是|多半是|估计是|大概率是|基本(?:上)?(?:可以)?(?:是|确定为?|判断为?|诊断为?)|判断(?:为|是|您)|属于|"
    r"几[种个]可能(?:性)?[:：]|存在|得了|患了|患上了?|常见于|多见于|(?:由|是)(?=[^。]{1,20}(?:引起|导致|所致|造成)))"
)
_ASSERT = re.compile(rf"(?P<cue>{_CUE})(?P<body>[^。！？!?；;\n]{{0,28}}?)(?P<name>{_NAME})")
_SUFFERS = re.compile(
    r"(?P<cue>(?:患有|患上|患了|得了)了?)(?P<body>)(?P<name>[^，,。；;：:？?\n]{2,16}?(?:疼痛|无力|麻痹|痉挛|震颤))(?!药|史|吗)"
)
_HARD = re.compile(r"诊断(?:结果|意见)?(?:是|为|[:：])|确诊为|印象[:：]|诊断结果#")
_HEADING = re.compile(
    r"#?\s*(?:\*\*)?(?:初步|最终|临床)?(?:诊断结果|初步诊断|最终诊断|临床诊断|诊断)(?:\*\*)?\s*[#:：]+(?:\*\*)?"
)
_LISTING = re.compile(
    r"(?:可能的?(?:疾病|诊断|原因|病因)|几[种个]可能(?:性|的情况)?)"
    r"(?:主要)?(?:有|是|如下|包括|为|有以下几[种个点]|[^。：:]{0,4}(?:导致|引起|造成)[^。：:]{1,16})?\s*(?:\*\*)?[:：]\W*$"
)
_BULLET = re.compile(r"\s*(?:[-*•]|[(（]?\d{1,2}\s*[.、．)）]|[①-⑳])\s*(?P<head>[^：:。；;，,]{2,30})")
_ASKING = re.compile(
    r"是不是|是否|有没有|(?<!患)有无|会不会|能不能|吗|过没|什么|哪|(?<!以下)(?<!这)(?<!那)几(?!乎|[种个]可能)|怎么|多久|还是|如何|呢"
)
_PAST = re.compile(
    r"以前|既往|曾经?|之前|过去|诊断过|被诊断|外院|当地|有过|得过|患过|家族|家人|家里|父|母|亲属|您(?:提到|说|描述|"
    r"刚才)[^，,。]{0,10}(?:有|患|得)"
)
_OTHERS = re.compile(
    r"(?:(?<!我作为)(?:医生|大夫|医师)|(?:急诊|门诊|诊所|外院|别的医院|当地(?:医院|诊所)?|体检))(?:的?(?:医生|大夫|医师))?"
    r"(?:也|曾|已|都|当时)*(?:考虑|怀疑|认为|觉得|说|告诉|告知|给您?诊断|(?:被?诊断|确诊)(?:过|是|为))"
)
_PASSED_ON = re.compile(
    r"诊断过|(?<!可以)(?<!能够)(?<!应该)(?<!可)被诊断|以前.{0,6}诊断|曾.{0,6}诊断|您(?:提到|说).{0,6}诊断"
)
_FROM_FINDINGS = re.compile(
    r"(?:根据|结合|综合|基于|依据|从)[^。]{2,50}?(?:结果|症状|检查|描述|情况|病史|表现|信息)[^。]{0,14}?被?诊断"
)
_BEFORE = re.compile(r"以前|既往|曾|之前|过去|外院|当地|诊断过|家人|父|母")
_EXAMPLES = re.compile(r"包括但不限于|多种(?:原因|因素|疾病|情况)")
_PLAN = re.compile(
    r"排除|以便|以明确|明确是否|为了(?!.{0,4}您)|如果|若|一旦|万一|假如|假设|除非|预防|防止|避免|防治|以防|"
    r"导致更|可能(?:需要|会|要)|会(?:导致|引起|造成|增加)|增加.{0,6}风险|风险|并发症|诱发|加重|检查|筛查|评估|"
    r"了解|建议(?!.{0,12}诊断)|需要(?:做|进行|查)|注意|不良反应|副作用|过敏史"
)
_NEGATED = re.compile(
    r"(?:不(?:太|大)?(?:像|是|考虑|支持|符合|提示|可能|会是|存在|属于|诊断)|并非|没有|无(?!力|痛性|菌性)|未(?:见|提示|发现|显示)|"
    r"排除了?|除外)[^，,。但]{0,10}$"
)
_SOFT_NEG = re.compile(r"(?:不是|没有|无(?!力|痛性|菌性)|未见|排除|不像|不支持|除外|不存在)")


@lru_cache(maxsize=16384)
def asserted_diagnosis(text: str) -> Span | None:
    """Find the first sentence in which the doctor asserts a diagnosis; None when there is none."""
    for span in _asserting(text):
        return span
    return None


def mask_assertions(text: str, mask: str = MASK) -> str:
    """Put a mask in the place of every sentence that asserts a diagnosis."""
    if mask == MASK and _HAN.search(text) is None:
        mask = MASK_EN
    for span in reversed(_asserting(text)):
        text = text[: span.start] + mask + text[span.end :]
    return re.sub(rf"(?:{re.escape(mask)}\s*)+{re.escape(mask)}", mask, text)


def _asserting(text: str) -> list[Span]:
    """List the sentences that assert a diagnosis; the lines under a heading 诊断结果 belong to it."""
    if _HAN.search(text) is None and _LATIN.search(text) is not None:
        from meddc_bench.text.assertions_en import asserting_english  # a stemmer, for English turns alone

        return asserting_english(text)
    found: list[Span] = []
    headed = listing = False
    for span in sentences(text):
        bullet = _BULLET.match(span.text)
        listing = bool(_LISTING.search(span.text)) or (listing and bullet is not None)
        if listing and bullet and _suspects(bullet["head"]):
            found.append(span)
            continue
        heading = _HEADING.match(span.text.lstrip("#*- 0123456789.、"))
        if heading and not re.search(r"[?？]", span.text) and not re.search(r"依据", span.text[: heading.end()]):
            headed = True
            found.append(span)
        elif (
            headed
            and re.match(r"(?:[-*•]|\d{1,2}\s*[.、)])?\s*[^#。：:]{2,40}$", span.text)
            and not re.match(r"#", span.text)
        ):
            found.append(span)
        else:
            headed = False
            if _asserts(span.text):
                found.append(span)
    return found


def _suspects(head: str) -> bool:
    """Say whether an item of a list of possible causes opens with a condition, not with a test or a question."""
    return re.search(_NAME, head) is not None and not _PLAN.search(head) and not _ASKING.search(head)


def _asserts(sentence: str) -> bool:
    """Say whether a sentence asserts a diagnosis in one of its clauses."""
    asked = re.search(r"[?？]\W*$", sentence) is not None
    own = _FROM_FINDINGS.search(sentence) is not None and not _BEFORE.search(sentence)
    for match in (*_ASSERT.finditer(sentence), *_SUFFERS.finditer(sentence)):
        start = max(sentence.rfind(mark, 0, match.start()) for mark in "，,；;：:") + 1
        stops = [at for at in (sentence.find(mark, match.end()) for mark in "，,；;") if at >= 0]
        end = min(stops, default=len(sentence))
        clause, before = sentence[start:end], sentence[: match.start()]
        if (asked and end == len(sentence)) or _ASKING.search(clause):
            continue
        if _PAST.search(sentence[start : match.end()]) and not _HARD.search(match["cue"]):
            continue
        if not own and (_PASSED_ON.search(sentence) or _OTHERS.search(sentence[start : match.end("cue")])):
            continue
        if _EXAMPLES.search(sentence[start : match.end("name")]):
            continue
        if (
            _PLAN.search(sentence[start : match.end("name")])
            or _SOFT_NEG.search(match["body"])
            or _NEGATED.search(before)
        ):
            continue
        if re.search(r"(?:如果|若|一旦|为了|以便|假如)[^。]{0,30}$", before):
            continue
        return True
    return False
