"""Adapters that need no network: rule-based doctors, a patient that keeps to its facts, a reader, lexical judges."""
