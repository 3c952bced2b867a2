"""The one Chinese text layer of core and plugins: hygiene, comparison, segmentation, scope, quantities."""

from meddc_bench.text.assertions import asserted_diagnosis, mask_assertions
from meddc_bench.text.hygiene import clean, one_line, safe_name
from meddc_bench.text.mentions import mentions
from meddc_bench.text.normal import Aligned, aligned, contains, normalise, same, similarity, squash
from meddc_bench.text.quantities import Duration, age, durations, laterality, sex
from meddc_bench.text.questions import Unit, question_units
from meddc_bench.text.scope import Polarity, Subject, polarity, subject
from meddc_bench.text.spans import Span, clauses, sentences

__all__ = [
    "Aligned",
    "Duration",
    "Polarity",
    "Span",
    "Subject",
    "Unit",
    "age",
    "aligned",
    "asserted_diagnosis",
    "clauses",
    "clean",
    "contains",
    "durations",
    "laterality",
    "mask_assertions",
    "mentions",
    "normalise",
    "one_line",
    "polarity",
    "question_units",
    "safe_name",
    "same",
    "sentences",
    "sex",
    "similarity",
    "squash",
    "subject",
]
