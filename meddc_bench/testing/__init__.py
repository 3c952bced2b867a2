"""Conformance: what every adapter of a kind must do, as `meddc-bench plugins check` and as pytest suites.

    from meddc_bench.testing import PolicySuite

    class TestMyDoctor(PolicySuite):
        name = "my_doctor"

Fixtures for tests of your own come with `pytest_plugins = ["meddc_bench.testing.fixtures"]` in a conftest.py.
"""

from meddc_bench.testing.checking import PROPERTIES, Report, check
from meddc_bench.testing.properties import Breach, Property, Verdict
from meddc_bench.testing.subject import Subject
from meddc_bench.testing.suites import (
    SUITES,
    EnvironmentSuite,
    ImporterSuite,
    JudgeSuite,
    MetricSuite,
    PatientSuite,
    PolicySuite,
    ReaderSuite,
    Suite,
    TaskSuite,
)

__all__ = [
    "PROPERTIES",
    "SUITES",
    "Breach",
    "EnvironmentSuite",
    "ImporterSuite",
    "JudgeSuite",
    "MetricSuite",
    "PatientSuite",
    "PolicySuite",
    "Property",
    "ReaderSuite",
    "Report",
    "Subject",
    "Suite",
    "TaskSuite",
    "Verdict",
    "check",
]
