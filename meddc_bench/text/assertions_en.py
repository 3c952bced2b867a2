"""Where a doctor asserts a diagnosis in English: `you probably have X`, `this is consistent with X`, `Diagnosis: X`."""

from __future__ import annotations

import re

from meddc_bench.text.english import english_sentences
from meddc_bench.text.spans import Span

_CONDITION = (
    r"(?:\w+itis|\w+osis|\w+oma|\w+emia|\w+pathy|\w+plegia|disease|syndrome|disorder|cancer|carcinoma|tumou?rs?|leuk\w+|lymphoma|"
    r"infection|pneumonia|asthma|diabetes|hypertension|stroke|infarction|failure|fracture|dislocation|tear|ulcers?|hernia|embolism|"
    r"thrombosis|hemorrhage|anemia|migraine|epilepsy|seizures?|dementia|depression|schizophreni\w+|anxiety|gout|lupus|psoriasis|eczema|"
    r"vertigo|syncope|torsion|atresia|stenosis|obstruction|hypothyroidism|hyperthyroidism|\w+thyroidism|gravis|sclerosis|neuropathy|"
    r"colic|stones?|jaundice|deficiency|intoxication|poisoning|influenza|flu|tuberculosis|malaria|measles|hepatitis|hemorrhoids|cysts?)"
)
_CUE = (
    r"(?:(?:final |working |most likely |likely |preliminary |my )*(?:diagnosis|impression|assessment)\s*(?:is|would be|:)|"
    r"(?:you|he|she|your (?:child|son|daughter|baby))(?: (?:most )?(?:likely|probably|may|might|could|seem to|"
    r"appear to|definitely|do))* "
    r"(?:have|has|are suffering from|is suffering from)|"
    r"(?:this|it|that|these symptoms|your symptoms|the picture|everything)(?: (?:most )?(?:likely|probably|really|"
    r"all|strongly))* "
    r"(?:(?:is|are|sounds?|looks?|seems?)(?: (?:most )?(?:likely|probably|very|highly))*(?: like| to be|"
    r" consistent with| compatible with| "
    r"suggestive of| typical of| due to| caused by)?|suggests?|points? to(?:wards?)?|indicates?)|"
    r"i(?:'m| am)? (?:think|suspect|believe|diagnose|confident|afraid)(?: (?:that )?(?:you have|it is|it's|this is|"
    r"he has|she has))?)"
)
_ASSERTS = re.compile(rf"\b{_CUE}\s+(?P<body>[^.?!;\n]{{0,50}}?)\b(?P<name>{_CONDITION})\b", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|no|isn['’]t|unlikely|rule out|exclude|in case|if|whether|history of|family|before|previously|ever|"
    r"had been|was diagnosed|"
    r"told you|other doctor|test for|screen|to see)\b",
    re.IGNORECASE,
)


def asserting_english(text: str) -> list[Span]:
    """List the sentences of an English turn that assert a diagnosis; questions, history and plans do not."""
    return [span for span in english_sentences(text) if _asserts(span.text)]


def _asserts(sentence: str) -> bool:
    if sentence.rstrip("\"')").endswith("?"):
        return False
    match = _ASSERTS.search(sentence)
    return match is not None and _NOT.search(sentence[: match.end()]) is None
