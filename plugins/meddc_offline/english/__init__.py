"""The offline adapters for English cases: patient, reader, judge and doctors on stems, a small thesaurus and a small handbook."""
