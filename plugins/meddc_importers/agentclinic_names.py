"""Where AgentClinic's names of examinations and tests stand in the catalogue of protocol TrustMed.

The source names things freely (Chest_X-ray, MRI_of_the_Right_Hand, Blood_Work: 78 spellings of sections, 234 of tests), so
a name is looked up by the first rule that fits it, not by its spelling. A name of a group (Imaging, Blood_Tests) says
nothing itself: its members are looked up one by one, and the group's own item is what is left for the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

EXAMINATION = "physical_examination"


@dataclass(frozen=True, slots=True)
class Place:
    """An item of the catalogue; `other` where no rule knew the name."""

    category: str
    item: str
    other: bool = False


def _rules(category: str, rows: Sequence[tuple[str, str]]) -> list[tuple[re.Pattern[str], Place]]:
    return [(re.compile(pattern, re.IGNORECASE), Place(category, item)) for pattern, item in rows]


_EXAMINED = _rules(
    EXAMINATION,
    (
        (r"vital|temperature|blood pressure|heart rate|pulse rate|respiratory rate|oxygen saturation|^weight|^height|\bbmi\b",
         "vital signs"),
        (r"mental status|psychiatric|behaviou?r|mood|affect\b|thought|speech|orientation|insight", "mental status"),
        (r"neuro|cranial nerve|reflex|gait|coordination|motor|sensory|nystagmus|dix.hallpike|positional|vestibular",
         "neurologic"),
        (r"breast", "breast"),
        (r"ophthalm|\beyes?\b|fundos|slit.?lamp|visual|pupil|heent", "eyes"),
        (r"audio|\bears?\b|auric|otosc|hearing|\bent\b|inner ear", "ears"),
        (r"nasal|\bnose\b|rhinosc", "nose"),
        (r"\boral|mouth|throat|gums?\b|mucosa|pharyn|tongue|dental", "mouth and throat"),
        (r"rectal|rectovaginal|anorect|\banus|perianal", "rectal"),
        (r"pelvic|genit|vagin|obstetric|uter|gyn(?:a?e)col|kidney|renal|flank|costovertebral|scrot|testic|penis|urolog",
         "genitourinary"),
        (r"lymph", "lymph nodes"),
        (r"neck|thyroid|jugular", "neck"),
        (r"abdom|liver|spleen|hepato|bowel|umbilic", "abdomen"),
        (r"cardio(?!pulm)|cardiac|heart|murmur|\bpulses?\b|apical", "cardiovascular"),
        (r"resp|lung|pulmon|chest|thora|breath", "respiratory"),
        (r"skin|derm|rash|lesion|nails?\b|\bhair|jaundice|bruis", "skin"),
        (r"shoulder|\bknee|musculo|joint|\bhip|spine|\bback\b|\belbow|\bwrist", "musculoskeletal"),
        (r"extremit|\blegs?\b|\bhands?\b|\bfeet|\bfoot\b|\barms?\b|edema|ankle|limb|finger", "extremities"),
        (r"^head|face|facial|fontanel|scalp|mandib", "head"),
        (r"general|appearance|growth|constitution|observation|development|consciousness", "general"),
    ),
)  # fmt: skip

_TESTED = [
    *_rules(
        "physiologic",
        (
            (r"echocardio", "echocardiography"),
            (r"electrocardio|\becg\b|\bekg\b|holter|stress test|tilt|autonomic|blood pressure differential|fetal heart",
             "cardiovascular physiologic testing"),
            (r"electroenceph|\beeg\b|electromyo|\bemg\b|nerve conduction|evoked|repetitive nerve|edrophonium",
             "neurophysiologic testing"),
            (r"spirometry|pulmonary function|\bfvc\b|\bfev1", "pulmonary function testing"),
            (r"ophthalm|visual acuity|visual field|tonometry|intraocular|slit.?lamp|gonio|fundosc",
             "ophthalmic examination and testing"),
            (r"assessment tool|psycholog|checklist|questionnaire|depression screen|anxiety screen|adhd|cognitive|mini.?mental",
             "psychological testing"),
            (r"audiom|audiolog|hearing|tympanom|vestibular|videonystag|polysomn|sleep|dix.hallpike|urodynam|postvoid|"
             r"manomet|provocat|oximetry|tuberculin|skin prick|patch test", "other physiologic testing"),
        ),
    ),
    *_rules(
        "pathology",
        (
            (r"peripheral (?:blood )?smear|blood smear|blood film", "peripheral blood smear"),
            (r"bone marrow", "bone marrow examination"),
            (r"direct immunofluor|immunofluor", "direct immunofluorescence"),
            (r"immunohisto|\bihc\b", "immunohistochemistry"),
            (r"electron microsc", "electron microscopy"),
            (r"cytolog|cytospin|pap smear|fine.needle|\bfna\b", "cytopathology"),
            (r"biops|histopath|histolog|microscopic desc|patholog", "histopathology"),
        ),
    ),
    *_rules(
        "imaging",
        (
            (r"\bct\b|computed tomog|\bcta\b", "CT"),
            (r"angiogra|arteriogra|catheteri", "X-ray angiography"),
            (r"\bmri\b|magnetic|mrcp", "MRI"),
            (r"mammo", "other imaging modality"),
            (r"endoscop|colonosc|anoscop|cystosc|bronchosc|gastrosc|sigmoidosc|laryngosc|hysterosc|arthrosc", "endoscopy"),
            (r"ultraso|sonogra|doppler", "ultrasound"),
            (r"scintigra|nuclear (?:medicine|scan|imag)|\bpet\b|bone scan|dexa|thyroid scan|uptake", "nuclear medicine"),
            (r"x.?ray|radiogra|barium|pyelogram|urogram|swallow|enema|\bap\b|scapular|axillary", "computed radiography"),
            (r"dermosc|photograph", "external-camera photography"),
        ),
    ),
    *_rules(
        "laboratory",
        (
            (r"scraping|koh\b|cultur|gram.?stain|\bpcr\b|\bstd\b|\bsti\b|torch|syphilis|gonorrh|chlamyd|\bhiv\b|hepatitis|"
             r"infectious|toxoplasma|cryptococ|clostridium|microbio|sputum|rubella|viral load|\bhbv\b|\bhcv\b|nitrogen.?fixing",
             "microbiology"),
            (r"coagul|prothromb|\bptt\b|\binr\b|\bpt\b|thrombin|bleeding time|fibrin|d.?dimer|\bact\b|\btp\b", "coagulation"),
            (r"\bcsf\b|lumbar|cerebrospinal|stool|synovial|arthrocent|joint aspir|fluid|tox|alcohol|amphet|cocaine|opiate|"
             r"benzodiaz|cannab|drug screen|pregnancy|\bhcg\b|blood type|blood group|semen", "general laboratory testing"),
            (r"urin(?:e|aly)|urinary|leukocyturia", "urinalysis"),
            (r"cbc|blood count|hemato(?!xylin)|h(?:a?e)moglobin|\bhb\b|platelet|\bwbc|leu[kc]ocyte|\brbc\b|reticuloc|\besr\b|"
             r"sedimentation|neutroph|lymphocytes|monocytes|eosinoph|basoph|bands|\bmcv\b|differential", "hematology"),
            (r"flow cytom|\bcd4", "flow cytometry"),
            (r"antibod|antiglobulin|coombs|\bana\b|anti.?nuclear|elisa|serolog|immuno|electrophor|complement|rheumatoid|"
             r"c.?reactive|\bcrp\b|autoantib|\bigm\b|\bigg\b", "immunology"),
            (r"thyroid|\btsh\b|free t4|hormon|\bfsh\b|\blh\b|estradiol|testoster|progester|cortisol|prolactin|inhibin|"
             r"c.?peptide|\bpth\b|insulin\b|acth", "endocrinology"),
            (r"ca.?125|\bcea\b|\bafp\b|\bpsa\b|tumou?r marker|ca.?19", "tumor markers"),
            (r"genet|karyo|chromosom|mutation|\bfish\b|microarray", "molecular genetics"),
            (r"newborn screen|metabolic screen|amino acid|organic acid|ceruloplasmin|sweat", "metabolic screening"),
            (r"chemis|metabolic|electrolyt|glucose|liver|creatin|urea|\bbun\b|\bna\b|\bk\b|sodium|potassium|calcium|chlor|"
             r"bicarb|hco3|bilirubin|\bast\b|\balt\b|phosphatase|albumin|lipase|amylase|lactate|uric|iron|ferritin|troponin|"
             r"blood gas|\bph\b|paco2|pao2|renal|cholesterol|\bglu\b|\bcr\b|\bca2?\b|magnes|phosph|protein|kinase|biochem|"
             r"osmol|\bcl\b|enzyme|vitamin|ascorb|base excess|triglycer|lipid", "clinical chemistry"),
        ),
    ),
]  # fmt: skip
_VITALS = re.compile(r"vital.?signs", re.IGNORECASE)

_GROUPS: tuple[tuple[re.Pattern[str], Place], ...] = (
    (re.compile(r"^imaging|^radiology|head imaging|brain imaging|imaging (?:and|results|studies)", re.IGNORECASE),
     Place("imaging", "unmapped imaging", other=True)),
    (re.compile(r"^(?:blood|lab|laborator|basic lab|serum|routine blood|hematologic$)", re.IGNORECASE),
     Place("laboratory", "unmapped laboratory", other=True)),
    (re.compile(r"^(?:additional|other|special|screening|diagnostic|further) ?(?:tests?|studies|investigations)?$|special test",
                re.IGNORECASE), Place("laboratory", "unmapped laboratory", other=True)),
)  # fmt: skip
_EXAMINED_GROUPS = re.compile(
    r"^(?:general(?: physical)?(?: examination| exam)?|examination|physical examination|cardiopulmonary.*|head and neck.*|"
    r"ent examination|remainder of.*|other.*)$",
    re.IGNORECASE,
)
_GENERAL = Place(EXAMINATION, "general")


def plain(key: str) -> str:
    """Write a key as words: `Chest_X-ray` is `Chest X-ray`."""
    return re.sub(r"\s+", " ", key.replace("_", " ")).strip()


def is_test_group(name: str) -> bool:
    """Say whether a name of the test results only groups others."""
    return any(pattern.search(name) for pattern, _ in _GROUPS) and _specific(name) is None


def is_examination_group(name: str) -> bool:
    """Say whether a name of the findings only groups others."""
    return _EXAMINED_GROUPS.match(name) is not None


def place_of_examination(*names: str) -> Place:
    """Place an examination by its names, the first that a rule knows; what only groups is general."""
    for name in names:
        if is_examination_group(name):
            continue
        for pattern, place in _EXAMINED:
            if pattern.search(name):
                return place
    if any(re.match(r"general|appearance", name, re.IGNORECASE) for name in names):
        return _GENERAL
    return Place(EXAMINATION, "other", other=True)


def place_of_test(*names: str) -> Place:
    """Place a test by its names, the first that a rule knows; members of a group fall back on the group's own item."""
    for name in names:
        if _VITALS.search(name):
            return Place(EXAMINATION, "vital signs")
        if (found := _specific(name)) is not None:
            return found
    for name in names:
        for pattern, place in _GROUPS:
            if pattern.search(name):
                return place
    return Place("laboratory", "unmapped laboratory", other=True)


def _specific(name: str) -> Place | None:
    if re.match(
        r"(?:blood|lab|laboratory|basic laboratory|serum) ?(?:tests?|work|studies|results|laboratory.*)?$", name, re.I
    ):
        return None
    return next((place for pattern, place in _TESTED if pattern.search(name)), None)


# ── what pictures and specimens are of ───────────────────────────────────────────────────────────

_MODALITIES = {
    "CT": "CT",
    "MRI": "MRI",
    "computed radiography": "X-ray",
    "ultrasound": "ultrasound",
    "endoscopy": "endoscopy",
    "nuclear medicine": "nuclear medicine",
    "X-ray angiography": "angiography",
    "external-camera photography": "photograph",
}
_REGIONS: tuple[tuple[str, str], ...] = (
    (r"lumbar|cervical spine|spin(?:e|al)|vertebr", "spine"),
    (r"brain|head|crani|skull", "head"),
    (r"mammo|breast", "breast"),
    (r"chest|thora|lung|bronch", "chest"),
    (r"abdom|barium|pyelogram|liver|pancrea|gastr|esophag|swallow|enema", "abdomen"),
    (r"pelvi|uter|ovar|cystosc|bladder|anosc|rectal|colon", "pelvis"),
    (r"hip", "hip"),
    (r"knee", "knee"),
    (r"hand|finger|wrist", "hand"),
    (r"shoulder|scapul|axillary", "shoulder"),
    (r"neck|thyroid|cervical|lymph", "neck"),
    (r"scrot|testic", "scrotum"),
    (r"lower limb|leg|ankle|foot", "lower limb"),
    (r"skin|derm", "skin"),
    (r"bone marrow", "bone marrow"),
    (r"blood|smear|marrow", "blood"),
    (r"endometri", "endometrium"),
    (r"heart|cardi|echo", "heart"),
    (r"kidney|renal", "kidney"),
)
UNSTATED = "not stated"


def modality(place: Place, title: str) -> str | None:
    """Name the modality of an imaging record."""
    if place.category != "imaging":
        return None
    if "mammo" in title.lower():
        return "mammography"
    return _MODALITIES.get(place.item, UNSTATED)


def anatomy(place: Place, title: str) -> str | None:
    """Name the part of the body of an imaging or pathology record by its title; `not stated` where it does not say."""
    if place.category not in ("imaging", "pathology"):
        return None
    return next((region for pattern, region in _REGIONS if re.search(pattern, title, re.IGNORECASE)), UNSTATED)


def laterality(title: str) -> str | None:
    """Name the side that a title states."""
    sides = {side for side in ("left", "right", "bilateral") if re.search(rf"\b{side}\b", title, re.IGNORECASE)}
    return sides.pop() if len(sides) == 1 else None
