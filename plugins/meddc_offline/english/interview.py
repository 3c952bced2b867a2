"""What the English doctors ask: a fixed order of topics, and in between what would tell the leading diseases apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from meddc_bench.contracts import PolicyView
from meddc_bench.records import Turn
from meddc_offline.english.chart import Chart, read_chart
from meddc_offline.english.handbook import ranked
from meddc_offline.english.terms import names

_SCRIPT: tuple[str, ...] = (
    "How old are you? Can you tell me more about it?",
    "When did it start? Where is it, and what is it like? What makes it better or worse?",
    "Have you had any fever, chills, night sweats, or weight loss? What else came with it?",
    "",
    "Do you have any medical conditions? Have you had any surgery?",
    "Do you take any medications? Do you have any allergies?",
    "",
    "Do you smoke or drink alcohol? What do you do for a living?",
    "Does any illness run in your family? Have you travelled recently?",
    "How severe is it? Is there anything else that worries you?",
)
"""One turn each; an empty one asks for what the leading diseases would show."""
_SHORT = (0, 1, 3, 2)
"""The turns of a short budget."""
_GENERAL = (
    "Have you had any nausea, vomiting, headache, or dizziness?",
    "Have you noticed any rash, swelling, or changes in your bowel movements?",
)
"""What is asked in place of findings, where no disease leads."""
_LEADING = 5
_A_TURN = 4
_NOT_SAID = re.compile(
    r"^(?:worse|improves|relieved|triggered|episodes|after|position|continuous|pain (?:relieved|after))\b"
    r"|\b(?:obstruction|neuritis|ophthalmoplegia|lymph nodes|elevated|positive|negative|low |high |reduced|"
    r"decreased|absent|sign|mass|cells?|casts?|murmur|tenderness|reflex\w*|on endoscopy|"
    r"imaging|opacit\w+|infiltrate|consolidation|crackles|dullness|breath sounds|effusion|antibod\w+|crystals|"
    r"inflammation|lesions?|"
    r"splenomegaly|hepatomegaly|hepatosplenomegaly|anemia|leukocytosis|lymphocytosis|tachycardia|tachypnea|bradycardia|prolonged|"
    r"dilated|thickened|atrophy|plaques|nodule|stone|obesity|platelets|gallop|distension|rub|elevation|fraction|fev1|crepitus|osteophytes|"
    r"narrowing|hydronephrosis|proteinuria|granulomas|abscess|fistula|cavity|bacilli|hypercalcemia|hyponatremia|hyperkalemia|ferritin|"
    r"microcytic|blasts|rods|hba1c|ketones|bicarbonate|tsh|cortisol|cd20|spike|dissociation|discharges|bands|birefringent|toxin|glucose|"
    r"hyphae|mites|spongiosis|parakeratosis|acantholysis|necrosis|desmoglein|eosinophils|iga|igg|keratinocytes|"
    r"melanocytes|palisading|amastigotes|panniculitis|plugging|telangiectasia|striae|lichenification|punctum|treponemal|rpr|"
    r"nystagmus|ascites|angiomas|erythema|gynecomastia|clubbing|hyperinflation|hyperresonance|barrel|"
    r"exudate|tympanic|pressure elevated|"
    r"grunting|retractions|flaring|restricted|depression screen)\b",
    re.IGNORECASE,
)


def asked_turns(turns: Sequence[Turn]) -> int:
    """Count the doctor's turns so far."""
    return sum(turn.role == "doctor" for turn in turns)


def next_question(view: PolicyView, most: int | None = None) -> str:
    """Choose what to ask next; empty when the interview is over."""
    budget = view.budgets.get("questions")
    total = min(budget.total if budget else len(_SCRIPT), most or len(_SCRIPT))
    at = asked_turns(view.turns)
    if at >= total or (budget is not None and not budget.left):
        return ""
    order = _SHORT if total <= len(_SHORT) else tuple(range(len(_SCRIPT)))
    if at >= len(order):
        return ""
    return _SCRIPT[order[at]] or _telling(view.turns) or _GENERAL[order[at] > len(order) // 2]


def _telling(turns: Sequence[Turn]) -> str:
    """Ask for findings of the leading diseases that nobody has spoken of yet."""
    spoken = frozenset().union(*(names(turn.text) for turn in turns))
    chosen: list[str] = []
    for one in ranked(read_chart(turns))[:_LEADING]:
        rows = sorted(one.disease.findings.items(), key=lambda row: (-row[1], row[0]))
        for phrase, _ in rows:
            if not _NOT_SAID.search(phrase) and not names(phrase) <= spoken and phrase not in chosen:
                chosen.append(phrase)
                break
    if not chosen:
        return ""
    listed = chosen[:_A_TURN]
    joined = f"{', '.join(listed[:-1])}, or {listed[-1]}" if len(listed) > 1 else listed[0]
    return f"Have you had any {joined}?"


def chart_of(view: PolicyView) -> Chart:
    """Read the chart of a visit, the listings of pictures left out."""
    return read_chart([turn for turn in view.turns if not (turn.role == "reporter" and " | came with: " in turn.text)])
