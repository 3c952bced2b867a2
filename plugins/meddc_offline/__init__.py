"""Adapters that need no network: rule-based policies, a patient that keeps to its facts, a reader and lexical judges."""
