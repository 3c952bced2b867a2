"""A task made of what an importer reads: the folder, its cases, its histories and its card.

    FILE ──importer──> Case ──────> cases/*.yaml, or cases.jsonl where there are many
                       Imported ──> histories.jsonl        consultations that took place, to be scored
                       Fault ─────> counts in README.md    what was left out and why

Everything is written into a folder beside the target, which takes the target's place at the end: there is the whole task or
none. Rows are read one by one, so the size of a file does not matter.
"""
