"""Publishing: a finished run becomes a row that others can check, rows become a board, and both leave in other formats.

row          what a row holds, and its statistics as series again
files        rows and boards as JSON
numbers      values, spread and intervals from per-case statistics: the same for who prints and for who checks
instruments  which named instrument a row was measured with, told from fingerprints alone
folder       do the files of a run agree with its records
evidence     do the records of a row hold together
making       what a row says, part by part
publish      a run -> a row, or the reasons why not
plausible    what counts cannot be
checks       a row -> the reasons why it cannot be believed
reported     numbers that a paper printed: never ranked
board        rows -> a leaderboard
exchange     a row -> Every Eval Ever, Hugging Face
export       a row or a run -> CSV, Parquet
"""
