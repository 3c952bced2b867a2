"""A small doctor for MedDDC-Bench."""
