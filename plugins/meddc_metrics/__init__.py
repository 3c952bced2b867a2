"""The metrics of MedDDC-Eval."""
