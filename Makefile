# All targets run in .venv, which is made if it is missing and completed by the targets that need more.
PYTHON ?= python3
VENV ?= .venv
# Index to install torch from, for `make install`. On Linux, PyPI's build includes several GB of CUDA;
# for the CPU build:
#   make install TORCH_INDEX_URL=https://download.pytorch.org/whl/cpu
TORCH_INDEX_URL ?=

BIN := $(VENV)/bin
READY := $(VENV)/.ready
WITH_SERVICE := $(VENV)/.ready-service
WITH_DEV := $(VENV)/.ready-dev

# Modules are compiled when they are imported: pip would also compile those that Chroma asks for and
# never imports here, like a Kubernetes client of 1,500 modules.
INSTALL := $(BIN)/pip install -qq --disable-pip-version-check --no-compile -c constraints.txt
# Prints a step, then its seconds and the size of .venv.
step = @printf '  %-44s' '$(1)'; began=$$(date +%s); { $(2); } && \
	printf '%4d s %6d MB\n' $$(($$(date +%s) - began)) $$(du -sm $(VENV) | cut -f 1)

.PHONY: install client demo serve test test-full test-kills test-frameworks lint check bench eval model clean

# What development needs
install: $(WITH_DEV)

$(READY): pyproject.toml constraints.txt
	@echo "Installing into $(VENV):"
	$(call step,Python environment,test -x $(BIN)/python || $(PYTHON) -m venv $(VENV))
	$(call step,Chroma$(comma) the vector index,$(INSTALL) chromadb)
	$(call step,semantic-memory$(comma) with its embedding model,$(INSTALL) -e .)
	$(call step,First start,$(BIN)/semantic-memory prepare > /dev/null)
	@touch $@

$(WITH_SERVICE): $(READY)
	$(call step,REST$(comma) MCP$(comma) dashboard,$(INSTALL) -e '.[service]')
	@touch $@

$(WITH_DEV): $(READY)
	@echo "Adding what development needs:"
	$(call step,torch,$(INSTALL) $(if $(TORCH_INDEX_URL),--index-url $(TORCH_INDEX_URL)) torch)
	$(call step,tests$(comma) linters$(comma) all extras,$(INSTALL) -e '.[dev]')
	@touch $@

# The wheel of the client alone, in dist/
client: $(READY)
	$(BIN)/pip wheel -qq --disable-pip-version-check --no-deps --wheel-dir dist ./packages/client

comma := ,

demo: $(READY)
	@$(BIN)/python examples/demo.py

serve: $(WITH_SERVICE)
	$(BIN)/semantic-memory serve

# Compiles the default model from the pinned weights; the files don't change unless a version does.
model: $(WITH_DEV)
	HF_HUB_OFFLINE=1 $(BIN)/python -m semantic_memory.vectors.embedders.compiled \
		semantic_memory/vectors/embedders/all-MiniLM-L6-v2 int8

# Nothing is compiled twice, even if the environment forbids compiled modules: tests start hundreds of
# Python processes.
$(READY) demo test test-full test-kills test-frameworks: export PYTHONDONTWRITEBYTECODE =

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

# The adapters of frameworks that need other versions than constraints.txt has, in an environment of
# its own; the other tests skip them
FRAMEWORKS := .venv-frameworks
test-frameworks:
	test -x $(FRAMEWORKS)/bin/python || $(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/pip install -qq --disable-pip-version-check --no-compile -e '.[frameworks]'
	$(FRAMEWORKS)/bin/python -m pytest tests/integrations

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
	rm -rf $(VENV) $(FRAMEWORKS) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
