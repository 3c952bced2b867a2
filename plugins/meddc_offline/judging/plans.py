"""Whether a predicted test, treatment, drug or advice covers a reference item."""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text import similarity, squash

# Each row: names of one thing, the first as the canonical one.
_SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("心电图", "ecg", "ekg", "十二导联心电图", "12导联心电图", "心电图检查"),
    ("动态心电图", "holter", "24小时心电图", "24小时动态心电图"),
    ("超声心动图", "心脏彩超", "心脏超声", "心超", "ucg", "心脏b超", "心彩超"),
    ("ct", "电子计算机断层", "电子计算机断层扫描", "计算机断层扫描", "螺旋ct"),
    ("mri", "磁共振", "核磁共振", "磁共振成像", "核磁", "mr"),
    ("x线", "x光", "x射线", "x片", "平片", "拍片", "摄片"),
    ("胸片", "胸部x线", "胸部平片", "胸部x光", "胸部x线片", "胸部正侧位片"),
    ("超声", "b超", "彩超", "超声检查", "彩色多普勒超声", "多普勒超声"),
    ("血常规", "全血细胞计数", "cbc", "血细胞分析", "血象"),
    ("尿常规", "尿液分析", "尿检", "尿液检查"),
    ("便常规", "大便常规", "粪便常规", "粪常规"),
    ("心肌肌钙蛋白", "肌钙蛋白", "ctn", "ctni", "ctnt", "心肌损伤标志物", "高敏肌钙蛋白"),
    ("糖化血红蛋白", "hba1c", "糖化"),
    ("c反应蛋白", "crp", "超敏c反应蛋白"),
    ("红细胞沉降率", "血沉", "esr"),
    ("d二聚体", "d-二聚体", "ddimer", "d-dimer"),
    ("脑钠肽", "bnp", "nt-probnp", "ntprobnp", "利钠肽"),
    ("胃镜", "电子胃镜", "上消化道内镜", "胃镜检查", "上消化道内窥镜"),
    ("结肠镜", "肠镜", "电子结肠镜"),
    ("幽门螺杆菌检测", "碳13呼气试验", "碳14呼气试验", "c13呼气试验", "c14呼气试验", "幽门螺杆菌"),
    ("甲状腺功能", "甲功"),
    ("肝功能", "肝功"),
    ("肾功能", "肾功"),
    ("空腹血糖", "fpg"),
    ("口服葡萄糖耐量试验", "ogtt", "糖耐量试验", "糖耐量"),
    ("阿司匹林", "乙酰水杨酸", "aspirin"),
    ("对乙酰氨基酚", "扑热息痛", "泰诺林"),
    ("布洛芬", "芬必得", "美林"),
    ("氯吡格雷", "波立维"),
    ("硝酸甘油", "nitroglycerin"),
    ("糖皮质激素", "激素", "皮质类固醇"),
    ("质子泵抑制剂", "ppi", "抑酸药", "质子泵抑制药"),
    ("血管紧张素转换酶抑制剂", "acei"),
    ("血管紧张素受体阻滞剂", "arb", "血管紧张素ii受体拮抗剂"),
    ("非甾体抗炎药", "nsaid", "nsaids", "非甾体类抗炎药", "消炎镇痛药", "非甾体消炎药"),
    ("抗生素", "抗菌药物", "抗感染药", "抗菌药"),
    ("钙通道阻滞剂", "ccb", "钙拮抗剂"),
    ("β受体阻滞剂", "倍他受体阻滞剂", "β阻滞剂"),
    ("戒烟", "停止吸烟", "不抽烟", "不吸烟", "禁烟"),
    ("限酒", "戒酒", "不喝酒", "禁酒", "少饮酒"),
    ("低盐饮食", "限盐", "少吃盐", "减盐", "低盐", "清淡少盐"),
    ("低脂饮食", "少油", "低脂", "少吃油腻"),
    ("经皮冠状动脉介入治疗", "pci", "冠脉支架", "支架植入", "介入治疗"),
    ("吸氧", "氧疗"),
    ("手术治疗", "外科手术", "手术"),
    ("卧床休息", "休息"),
    ("定期复查", "复查", "随访", "定期随访", "复诊"),
)
# Drug class -> members: a member covers its class, a class does not cover a member.
_CLASSES: dict[str, str] = {
    "质子泵抑制剂": r"拉唑",
    "他汀": r"他汀",
    "血管紧张素转换酶抑制剂": r"普利",
    "血管紧张素受体阻滞剂": r"沙坦",
    "钙通道阻滞剂": r"地平|维拉帕米|地尔硫",
    "β受体阻滞剂": r"洛尔",
    "降压药": r"普利|沙坦|地平|洛尔|利尿|噻嗪",
    "抗血小板": r"阿司匹林|格雷|替格瑞洛",
    "抗凝": r"肝素|华法林|沙班|达比加群",
    "抗生素": r"西林|头孢|沙星|霉素|环素|硝唑|培南|磺胺",
    "非甾体抗炎药": r"布洛芬|双氯芬酸|塞来昔布|依托考昔|洛索洛芬|萘普生|美洛昔康|吲哚美辛|阿司匹林",
    "糖皮质激素": r"泼尼松|地塞米松|甲泼尼龙|氢化可的松|布地奈德|倍氯米松|莫米松",
    "抗组胺": r"氯雷他定|西替利嗪|左西替利嗪|依巴斯汀|苯海拉明|氯苯那敏|非索非那定",
    "抗病毒": r"奥司他韦|阿昔洛韦|韦",
    "硝酸酯": r"硝酸|单硝酸",
    "降糖药": r"二甲双胍|格列|列净|列汀|阿卡波糖|胰岛素|利拉鲁肽",
    "利尿剂": r"呋塞米|噻嗪|螺内酯|托拉塞米|氨苯蝶啶",
    "支气管扩张剂": r"沙丁胺醇|特布他林|福莫特罗|噻托溴铵|异丙托溴铵|茶碱|沙美特罗",
    "退热药": r"对乙酰氨基酚|布洛芬",
    "解热镇痛": r"对乙酰氨基酚|布洛芬",
    "抗抑郁": r"舍曲林|氟西汀|帕罗西汀|西酞普兰|文拉法辛|度洛西汀|米氮平",
    "止吐": r"甲氧氯普胺|昂丹司琼|多潘立酮",
    "铁剂": r"硫酸亚铁|富马酸亚铁|琥珀酸亚铁|多糖铁|蔗糖铁|右旋糖酐铁",
    "抗癫痫": r"丙戊酸|卡马西平|左乙拉西坦|奥卡西平|拉莫三嗪|苯妥英",
    "抗真菌": r"康唑|制霉|特比萘芬|克霉",
    "止痛": r"布洛芬|双氯芬酸|曲马多|吗啡|对乙酰氨基酚|塞来昔布",
}
_LEAD = re.compile(
    r"^(?:建议|完善|行|做|查|急诊|复查(?=.{2})|进行|给予|予|口服|静脉滴注|静滴|静脉注射|肌注|外用|局部|适当|注意|"
    r"避免(?=$)|必要时|尽快|立即|及时|酌情|规律|长期|短期|使用|服用|应用|加用|联合|继续|坚持)+"
)
_TRAIL = re.compile(
    r"(?:检查|检测|测定|检验|化验|治疗|扫描|片|药物|类药物?|制剂|等|为主|方案|\d+(?:\.\d+)?(?:mg|g|ml|毫克|克|"
    r"毫升).*)+$"
)
_ALIKE = 0.72


@lru_cache(maxsize=1)
def _canon() -> tuple[tuple[str, str], ...]:
    rows = [(squash(name), squash(row[0])) for row in _SYNONYMS for name in row if name != row[0]]
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


@lru_cache(maxsize=16384)
def core(text: str) -> str:
    """Reduce an item to the name of the thing: verbs, doses and 检查 off, synonyms in one form."""
    text = squash(text)
    for old, new in _canon():
        if text == old:
            return new
    short = _TRAIL.sub("", _LEAD.sub("", text)) or text
    for old, new in _canon():
        if old in short and new not in short and (len(old) > 2 or short == old or old.isascii()):
            short = short.replace(old, new)
    return short


def covers(prediction: str, reference: str, synonyms: tuple[str, ...], axis: str) -> str | None:
    """Say why a plan item covers a reference (same, or more specific); None when it does not."""
    prediction = prediction[:200]
    ours = core(prediction)
    if not ours or (
        re.match(r"(?:不需要|无需|暂不|不建议|不用|停用|避免使用|禁用)", squash(prediction))
        and not re.match(r"(?:不需要|无需|暂不|不建议|不用|停用|避免|禁)", squash(reference))
    ):
        return None
    for text in (reference, *synonyms):
        theirs = core(text)
        if ours == theirs:
            return "同一项目"
        if len(theirs) >= 2 and theirs in ours:
            return "包含该项目"
        if axis in ("medication", "treatment") and _member(ours, theirs):
            return "属于该类药物"
        if axis in ("lifestyle", "guidance", "treatment") and similarity(ours, theirs) >= _ALIKE:
            return "措辞相近"
    return None


def _member(drug: str, group: str) -> bool:
    """Say whether a drug belongs to the class a reference names."""
    return any(
        squash(name) in group and re.search(members, drug) and not re.search(members, group)
        for name, members in _CLASSES.items()
    )
