"""`python -m meddc_bench`."""

from meddc_bench.cli import main

main()
