"""The metrics of MedDDC-Eval and TrustMed."""
