"""Statistics over scores: pure, seeded, vectorised; no files, no clock, no global random state.

series        one policy's additive statistics of one metric, by run and case
totals        weighted sums of series and of scores
resample      the same draws of cases for all series, by one matrix product a block
bootstrap     intervals of every score and of every paired difference
ranks         ranks, pairwise reversals, Kendall's tau
variance      what share of the spread is due to policy, reader and their interaction
orderings     what several readers say of two policies
audit         does the order of policies survive another reader
sensitivity   does it survive other weights
association   Pearson and Spearman between two scores
patterns      tertile buckets and case patterns
agreement     Cohen's and Fleiss' kappa, Krippendorff's alpha
multiplicity  Holm's correction
power         how many cases a difference needs

Scores are proportions from 0 to 1 unless a record's `unit` says otherwise; who shows them multiplies.
"""
