# All targets run in .venv, which is created if it is missing.
PYTHON ?= python3
VENV ?= .venv
# Index to install torch from. On Linux, PyPI's build includes several GB of CUDA; for the CPU build:
#   make install TORCH_INDEX_URL=https://download.pytorch.org/whl/cpu
TORCH_INDEX_URL ?=

BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: install demo serve test test-full test-kills lint check bench eval clean

install: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt $(if $(TORCH_INDEX_URL),--index-url $(TORCH_INDEX_URL)) torch
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev]'
	$(BIN)/semantic-memory prepare
	touch $(READY)

demo: install
	$(BIN)/python examples/demo.py

serve: install
	$(BIN)/semantic-memory serve

# Tests start hundreds of Python processes, which would compile the package again and again.
test test-full test-kills: export PYTHONDONTWRITEBYTECODE =

# One worker more than processors: many tests wait for a process or a timer.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PARALLEL := -n $(WORKERS) --dist loadfile
FULL := --hypothesis-profile=full

# Every test, with fewer kills and examples where a test repeats itself at random
test: install
	$(BIN)/python -m pytest $(PARALLEL)

# Every test, with all kills and examples
test-full: install
	$(BIN)/python -m pytest $(PARALLEL) $(FULL)

# Only the tests that kill processes, with all kills
test-kills: install
	$(BIN)/python -m pytest $(PARALLEL) $(FULL) tests/crash

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

# Evaluates the shipped set, or another: make eval SET=locomo DATA=locomo10.json
SET ?= gold
eval: install
	$(BIN)/python -m eval run --set $(SET) $(if $(DATA),--data $(DATA))

bench: install
	$(BIN)/python -m eval bench

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
