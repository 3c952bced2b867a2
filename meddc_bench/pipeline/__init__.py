"""The stages: rollout, read, judge, match, score. They exchange records and never import each other."""
