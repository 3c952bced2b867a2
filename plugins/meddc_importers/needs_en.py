"""The information needs of English cases, the surest rules first."""

from __future__ import annotations

from meddc_importers.needs import Needs, need

_KIN = (
    r"(?:(?:grand)?(?:mother|father|parent)s?|brothers?|sisters?|siblings?|sons?|daughters?|aunts?|uncles?|cousins?|"
    r"wife|husband|twin)"
)
_TELLS = (
    r"(?:states?|reports?|says?|said|notice[sd]?|brought|describes?|denie[sd]|tried|have tried|thinks?|is concerned|"
    r"are concerned)"
)

NEEDS: Needs = (
    need("allergy", "allergy", "Are you allergic to any medicine or food?", r"\ballerg(?:y|ies|ic (?:to|reaction))|drug allerg"),
    need(
        "family", "family", "Does anyone in your family have something similar, or a disease that runs in families?",
        rf"family (?:medical )?histor|in (?:the|his|her|my) family|"
        rf"\b{_KIN}\b(?! {_TELLS})(?<!by his parents)(?<!by her parents)[^.]*\b(?:has|had|have|died|diagnosed|"
        rf"suffers?|disease|cancer|similar|also)\b|relatives?",
    ),
    need(
        "obstetric", "obstetric", "Are your periods regular, when was the last one, and have you been pregnant?",
        r"menstru|menses|menopaus|menarche|\b(?:her|my|your|last|menstrual|regular|irregular|heavy|"
        r"missed) periods?\b(?! of)|pregnan|gravida|\bpara\b|postpartum|miscarr|"
        r"contracepti|gestation|breast-?feed",
    ),
    need(
        "development", "development", "How were the birth, the development and the vaccinations?",
        r"immuni[sz]|vaccin|milestone|born (?:at|by|via)|at birth|since birth|birth weight|\bdevelopmental",
    ),
    need(
        "habits", "personal", "Do you smoke, drink alcohol or use other drugs?",
        r"smok|cigarette|tobacco|pack-year|alcohol|\bdrinks? (?!plenty|water|enough)|\bwine\b|\bbeer|illicit|"
        r"cocaine|heroin|marijuana|cannabis|intravenous drug",
    ),
    need(
        "sexual", "personal", "Are you sexually active, and has a partner been ill?",
        r"sexual|\bpartners?\b|condom|chlamydia|gonorrh|syphilis",
    ),
    need(
        "exposure", "personal", "Have you travelled, or been in contact with animals, chemicals or sick people?",
        r"travel|abroad|camping|hik(?:e|ing)|trip to|immigra|\bpets?\b|\bdogs?\b|\bcats?\b|\bbirds?\b|horse|"
        r"insect|\bticks?\b|sick contact|exposed|exposure|sun\b|contact with|garden",
    ),
    need(
        "work", "personal", "What is your work, and how do you live?",
        r"works? (?:as|in|at|from)|worked|\bjob\b|occupation|employ|student|athlete|swimmer|profession|retired|"
        r"live[sd]? (?:with|in|alone)|divorced|high school|college|school teacher|social history|sits? for long|"
        r"exercises? (?:regularly|daily)|worker\b|gloves|"
        r"work boots|handed\b|native of|\bdiet\b|spicy|greasy",
    ),
    need(
        "treated", "prior_care", "What has been done about it so far: doctors seen, tests, treatments, and did they help?",
        r"\btreat|\bcreams?\b|topical|ointment|steroid|antifungal|antibiotic|moisturi|therap|\btried\b|prescribed|"
        r"remed|no relief|over-the-counter|biops|evaluat|seen (?:a|by a) |(?:third|second|first) visit|went to|"
        r"been to the hospital|gastroscop|colonoscop|endoscop|ultrasound|\btests?\b|checked|iv fluids|injection",
    ),
    need(
        "medicines", "medication", "Which medicines do you take regularly?",
        r"medication|medicines?|\bdrugs?\b|\bpills?\b|tablets?|capsules?|\bdoses?\b|\btakes? |\btaking\b|insulin|"
        r"aspirin|ibuprofen|acetaminophen|isotretinoin|minocycline|statin\b|prazole|inhibitor",
    ),
    need(
        "past", "past", "Which other illnesses do you have or have you had, and have you had any operations?",
        r"medical histor|(?:personal|past|previous|prior|significant|known|long|a) history|history (?:of|is)|"
        r"histories are|diagnosed with|surger|operation|hospitali[sz]|medical (?:problem|condition)|"
        r"other(?:wise)? (?:quite )?healthy|good health|complications|\bis healthy|comorbid|previously had|"
        r"had a (?:mole|.* infection)|diabet|hypertens|asthma|hemorrhoid|hepatitis|ulcers?\b|disease|carcinoma|"
        r"cancer\b",
    ),
    need(
        "modifying", "modifying", "What makes it better, and what makes it worse?",
        r"better|worse (?:with|when|after|at|in|on|by)|worsen(?:s|ed)? (?:with|when|after|by)|aggravat|exacerbat|"
        r"alleviat|reliev|soothed|improves? (?:with|when|after|if)|(?:after|when|while) (?:eating|meals?|moving|"
        r"standing|lying|walking|exercis|press)|struck|triggered by|comes? on",
    ),
    need(
        "trigger", "trigger", "Did anything trigger it or happen just before it began?",
        r"\bafter (?:a|an|the|he|she|eating|using|starting|taking|playing|running|working|i)\b|preceded by|trauma|"
        r"injur|\bfell\b|bitten|\bbites?\b|unconscious|collision|ran into|overate|ate (?:something|a lot)|spoiled|"
        r"caught cold|burn(?:ed|t) (?:him|her|my)",
    ),
    need(
        "onset", "onset", "When did it begin, and how long has it lasted?",
        r"\bstarted|\bbegan\b|\bonset|first (?:noticed|appeared|developed)|\bago\b|\bfor (?:about |almost |over |"
        r"the (?:past|last) |many |several |\d)|(?:past|last) (?:\d|few|several|two|three|four|five|six) (?:day|"
        r"week|month|year)|has been present|have been present|since (?!his|her)|duration|\d+[- ](?:hour|day|week|"
        r"month|year)s? (?:history|before)|^(?:about |almost |for |over )?(?:\d+|an?|one|two|three|four|five|six|"
        r"seven|half|several|many|few)[^.]{0,12} (?:hour|day|week|month|year)s?\b|yesterday|last night|"
        r"this morning",
    ),
    need(
        "course", "course", "How has it changed over time: is it getting worse, spreading, or coming and going?",
        r"progress|worsen|\bspread|enlarg|\bgr[oe]wn?\b|increas|resolv|recur|intermittent|episod|come and go|"
        r"comes and goes|stabili|stable|persist|disappear|improv|fluctuat|constant|eventually|gradual|waxes|"
        r"every day|times a day|occasional|sometimes|always|again",
    ),
    need(
        "severity", "severity", "How bad is it, and does it keep you from your daily life?",
        r"sever(?:e|ity)\b|\bmild(?:ly)?\b|moderate|slight|unable to|interfer|out of 10|\d/10|unbearable|"
        r"daily (?:life|activit)|not particularly",
    ),
    need(
        "feel", "character", "What does it feel like: does it hurt, itch or burn?",
        r"pain(?!ting)(?! (?:over|in|on) the (?:chest|abdomen|back|joint))|tender|itch|prurit|burn|sting|sore\b|"
        r"hurts?|throb|sharp|dull|cramp|stuffy|asymptomatic|uncomfortable|discomfort",
    ),
    need(
        "site", "site", "Where exactly is it, and does it spread anywhere else?",
        r"\blocated\b|location|radiat|\binvolv|\bspared?\b|unaffected|bilateral|surround|distribut|affected area|"
        r"(?:on|over|in|around|near|across|of) (?:the|his|her|my|both|all)\b[^.]*\b(?:face|cheeks?|foreheads?|"
        r"chin|nose|mouth|lips?|tongue|scalp|head|neck|chest|back|trunk|abdomen|belly|navel|groin|buttocks|arms?|"
        r"forearms?|elbows?|hands?|palms?|fingers?|nails?|legs?|thighs?|knees?|shins?|ankles?|feet|foot|toes?|"
        r"soles?|skin folds?|axilla\w*|armpits?|shoulders?|breasts?|nipples?|genital\w*|penis|scrot\w*|ears?|"
        r"eyes?|eyelids?|ribs?|extremit\w*|side)\b|left side|right side|below the|above the",
    ),
    need(
        "fever", "associated", "Have you had a fever, chills, night sweats, or been sweating?",
        r"fever|chill|night sweats?|sweat|febrile|\btemperature",
    ),
    need(
        "general", "general", "How are your appetite, weight, sleep and energy?",
        r"appetite|\bweight|lost \d|sleep|insomnia|fatigue|tired|malaise|energy|\bweak(?:ness)?\b(?! (?:in|of))|"
        r"lethargi",
    ),
    need(
        "digestive", "associated", "Have you had nausea, vomiting, stomach pain, or a change in your bowel movements?",
        r"nause|vomit|diarrh|constipat|stools?\b|bowel|abdom|stomach|belly|bloat|heartburn|reflux|belch|swallow|"
        r"burp|hiccup|passing gas|bitter|indigestion|proctitis",
    ),
    need(
        "chest", "associated", "Have you had a cough, shortness of breath, chest pain or palpitations?",
        r"cough|sputum|phlegm|breath|dyspn|wheez|chest|palpitat|heartbeat|hemoptysis|runny nose|sore throat|"
        r"throat|congestion|hoarse",
    ),
    need(
        "urinary", "associated", "Is there any trouble passing water, or a discharge?",
        r"urin|dysuria|hematuria|discharge|frequency|incontinen|testic|passing water",
    ),
    need(
        "nervous", "associated", "Have you had headache, dizziness, numbness, a weak limb, or trouble with your sight or memory?",
        r"headache|dizz|vertigo|seizure|numb|tingl|paresthes|weakness|vision|visual|diplopia|blurr|syncop|faint|"
        r"confus|memory|tremor|gait|speech|hearing|conscious",
    ),
    need(
        "joints", "associated", "Have you had pain or stiffness in joints, muscles or the back?",
        r"joint|arthr|stiff|muscle|myalg|back pain|swollen (?:knee|ankle|finger)",
    ),
    need(
        "mood", "associated", "How is your mood?",
        r"mood|anxi|depress|suicid|hopeless|irritab|stress|hallucinat",
    ),
    need(
        "look", "character", "What does it look like: colour, size, shape, surface?",
        r"colou?r|\bred\b|reddish|erythem|\bpink|\bbrown|\bblack|\bwhite|yellow|blue|pale|violace|pigment|\bscal|"
        r"papul|plaque|macul|patch|pustul|vesic|blister|bulla|nodul|ulcer|crust|lesion|rash|bump|swell|swollen|"
        r"lump|mass\b|mole|hard\b|firm|\bdry\b|\bcm\b|-cm|\bmm\b|-mm|size|shape|smooth|rough|thick|atroph|scar|"
        r"hair|nail|band|wart|greenish|bloody|sticky|loose|watery",
    ),
    need("others", "associated", "Have you noticed anything else besides this?", r"$^"),
)  # fmt: skip
