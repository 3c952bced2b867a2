# make demo | test | check | coverage | bench   (everything is set up in .venv on first use)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: demo test check docs coverage bench clean

$(STAMP): pyproject.toml
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x "$(BIN)/python" || "$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --upgrade pip
	"$(BIN)/python" -m pip install --quiet -e '.[dev]'
	touch "$(STAMP)"

demo: $(STAMP)
	@"$(BIN)/meddc-bench" run --tasks meddc --policy checklist --policy shuffled --policy brief --policy eager --output-path runs/demo

test: $(STAMP)
	"$(BIN)/python" -m pytest -n 2 -q

check: $(STAMP)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/lint-imports"
	"$(BIN)/python" -m cogapp --check $$(git ls-files README.md CONTRIBUTING.md 'docs/*.md' 'docs/**/*.md')

docs: $(STAMP)
	"$(BIN)/python" -m cogapp -r $$(git ls-files README.md CONTRIBUTING.md 'docs/*.md' 'docs/**/*.md')

coverage: $(STAMP)
	"$(BIN)/python" -m pytest -n 2 -q --cov --cov-report=term-missing:skip-covered

bench: $(STAMP)
	"$(BIN)/python" -m pip install --quiet -e '.[bench]'
	"$(BIN)/python" bench/speed.py

clean:
	rm -rf "$(VENV)" runs build dist .pytest_cache .ruff_cache .mypy_cache
