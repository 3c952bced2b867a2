"""Fixtures of MedDDC-Bench: meddc_adapter, meddc_world, meddc_units, meddc_run."""

pytest_plugins = ["meddc_bench.testing.fixtures"]
