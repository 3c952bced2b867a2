"""Audits: the same histories under several readers, judges or views, or patients side by side; does the order survive?

    records     what is asked, and what is found
    sights      the columns of runs, sorted into audits
    group       one audit
    runs        audits of stored runs
    published   tables of published scores, read from a file
    tables      audits of those
    gates       conditions on an audit
    rereading   the readings and judgements that are missing, made

Stored runs in, frozen records out; nothing is printed, and nothing but `rereading` makes anything.
"""

from meddc_bench.audits.gates import Checked, Gate, check, parse_gate
from meddc_bench.audits.published import Published, read_published
from meddc_bench.audits.records import (
    Fixed,
    Gap,
    Histories,
    MetricAudit,
    Over,
    Question,
    Report,
    Setting,
    Skipped,
    Unmeasured,
)
from meddc_bench.audits.rereading import anything_missing, check_names, read_again
from meddc_bench.audits.runs import audit_runs
from meddc_bench.audits.tables import audit_published

__all__ = [
    "Checked",
    "Fixed",
    "Gap",
    "Gate",
    "Histories",
    "MetricAudit",
    "Over",
    "Published",
    "Question",
    "Report",
    "Setting",
    "Skipped",
    "Unmeasured",
    "anything_missing",
    "audit_published",
    "audit_runs",
    "check",
    "check_names",
    "parse_gate",
    "read_again",
    "read_published",
]
