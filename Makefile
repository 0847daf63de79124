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

.PHONY: install client demo serve test test-full test-kills test-frameworks test-published mutants audit lint check bench bench-all \
	bench-growth bench-peers eval eval-peers model models reference site release clean

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

# The generated pages of docs/: library, command line, REST, settings, decisions, llms.txt
reference: install
	$(BIN)/python docs/generate.py

# The site of docs/, built strictly into site/, with llms-full.txt: 20 seconds. Not --quiet, which would
# silence the warnings that strict counts.
site: reference
	@test -x $(BIN)/mkdocs || $(INSTALL) -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	$(BIN)/python docs/generate.py --full site/llms-full.txt

# Checks version, changelog and tag, builds both wheels into dist/, checks what they hold, and tries them
# in empty environments.
release: $(READY)
	$(BIN)/python .ci/release.py
	rm -rf dist
	$(BIN)/pip wheel -qq --disable-pip-version-check --no-deps --wheel-dir dist . ./packages/client
	$(BIN)/python .ci/release.py dist/*.whl
	.ci/wheel

comma := ,

demo: $(READY)
	@$(BIN)/semantic-memory demo

serve: $(WITH_SERVICE)
	$(BIN)/semantic-memory serve

# Compiles the default model from the pinned weights; the files don't change unless a version does.
model: $(WITH_DEV)
	HF_HUB_OFFLINE=1 $(BIN)/python -m semantic_memory.vectors.embedders.compiled \
		semantic_memory/vectors/embedders/all-MiniLM-L6-v2 int8

# Trains the packaged judges from data/gold, and measures them on writers that are held out: an hour and
# a half on two quiet cores. One of them: JUDGE=pairs
JUDGE ?=
models: $(WITH_DEV)
	HF_HUB_OFFLINE=1 OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m training $(JUDGE)

# Nothing is compiled twice, even if the environment forbids compiled modules: tests start hundreds of
# Python processes.
$(READY) demo test test-full test-kills test-frameworks bench-all bench-growth bench-peers: export PYTHONDONTWRITEBYTECODE =

# One worker more than processors: many tests wait for a process or a timer.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PARALLEL := -n $(WORKERS) --dist loadfile
FULL := --hypothesis-profile=full

# Tests write to RAM where there is enough: stores wait for the disk at every write. Files there take from
# what processes need, so 12 GB of memory must be available. None needs a disk: kills end processes, and losses
# of power are simulated.
AVAILABLE := $(shell awk '/^MemAvailable/ { print $$2 }' /proc/meminfo 2>/dev/null || echo 0)
RAM := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 && $(AVAILABLE)+0 > 12000000 { print "/dev/shm" }')
ifneq ($(RAM),)
test test-full test-kills: export TMPDIR = $(RAM)
PARALLEL += -o tmp_path_retention_count=1
endif

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
	$(FRAMEWORKS)/bin/python -m pytest tests/integrations tests/unit/test_docs.py -k "not test_docs or frameworks"

# Checks the promises of docs/reference/features.md against a running store and service: minutes
audit: $(WITH_SERVICE)
	$(BIN)/python -m eval audit

# Changes one default or feature at a time in a copy of the tree, and shows that a test fails: the
# defaults take three minutes on a quiet machine. Those that the audit must notice: TABLES=audit
TABLES ?= defaults,features
mutants: install
	$(BIN)/python -m eval mutants --tables $(TABLES)

# LangGraph's tests of stores and the OpenAI Agents SDK's of sessions, from their source distributions
# on PyPI, over our adapters, in the same environment; fails if a test ends otherwise than is known
SUITES := $(FRAMEWORKS)/suites
test-published:
	test -x $(FRAMEWORKS)/bin/python || $(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/pip install -qq --disable-pip-version-check --no-compile -e '.[frameworks]' \
		pytest-asyncio pytest-mock inline-snapshot hatchling 'langgraph-checkpoint-sqlite==3.1.2'
	rm -rf $(SUITES)
	$(FRAMEWORKS)/bin/pip download -qq --disable-pip-version-check --no-deps --no-binary :all: \
		--no-build-isolation -d $(SUITES) langgraph-checkpoint==4.3.2 \
		langgraph-checkpoint-sqlite==3.1.2 openai-agents==0.24.0
	$(FRAMEWORKS)/bin/python -m tests.integrations.published $(SUITES)/langgraph*
	$(FRAMEWORKS)/bin/python -m tests.integrations.published_sessions $(SUITES)/openai*

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

# Prints a command, what it prints, and its seconds.
timed = printf '\n%s\n' "$(1)"; began=$$(date +%s); $(1) && echo "[$$(($$(date +%s) - began)) s]"

# Every figure of docs/benchmarks.md but those of installing (make demo), growth and peers, on a
# machine with nothing else to do: half an hour on two cores, most of it to fill the store of `bench`.
# make bench-all LOCOMO=locomo10.json; shorter: BENCH_USERS=100
BENCH_USERS ?= 1000
bench-all: install
	@test -n "$(LOCOMO)" || { echo "name LoCoMo's file: make $@ LOCOMO=locomo10.json"; exit 2; }
	@uptime
# 1.5 minutes, half of them to fill a store of 10,000 memories
	@$(call timed,$(BIN)/python -m eval starts)
# 2 minutes
	@$(call timed,$(BIN)/python -m eval stages)
# 5 seconds
	@$(call timed,$(BIN)/python -m eval.packing --data $(LOCOMO))
# about 20 minutes, nearly all of them to fill a store of 105,000 memories; 4 with 100 users
	@$(call timed,$(BIN)/python -m eval bench --users $(BENCH_USERS))
# 1 minute
	@store=$$(mktemp -d); $(call timed,$(BIN)/semantic-memory ingest $(LOCOMO) --format locomo \
		--data-dir $$store/store); status=$$?; rm -rf $$store; exit $$status
# 2 minutes
	@$(call timed,$(BIN)/python -m eval load --users 10 --each 1000 --seconds 20)
# 1 minute
	@$(call timed,$(BIN)/python -m eval flood --sessions 1000)
# 1 minute
	@$(call timed,$(BIN)/python -m eval starvation)

# How speed, RAM and disk grow with users and memories: half an hour. Other sizes, users x memories of
# each: SIZES=1x1000,1000x100. A million memories, of one user and of 10,000: MILLION=--million, hours
SIZES ?=
MILLION ?=
bench-growth: install
	@$(call timed,nice -n 5 $(BIN)/python -m eval bench --growth $(if $(SIZES),--sizes $(SIZES)) $(MILLION) \
		--plot docs/images/growth.svg)

# This product beside others with the same texts and vectors, each in an environment of its own in
# .cache/peers: ten minutes at 5,000 memories, and as long to install; hours with MEMORIES=100000.
# One that can't be installed is a line of the table.
MEMORIES ?= 5000
PEERS := .cache/peers
PEER_NAMES := $(basename $(notdir $(wildcard eval/peers/requirements/*.txt)))
bench-peers: install $(PEER_NAMES:%=$(PEERS)/%/.ready)
	@$(call timed,nice -n 5 $(BIN)/python -m eval bench --peers --memories $(MEMORIES))

$(PEERS)/%/.ready: eval/peers/requirements/%.txt
	@rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	@if $(@D)/bin/pip install -qq --disable-pip-version-check -r $<; \
		then touch $@; else rm -rf $(@D); echo "$* can't be installed"; fi

# Recall of this product and of others on a data set, with the same vectors, in an environment of its
# own: 2 minutes on the shipped set, and 3 to install. Another set: SET=locomo DATA=locomo10.json
COMPARED := semantic-memory,chroma,langgraph,mem0,mempalace
eval-peers:
	test -x $(PEERS)/eval/bin/python || $(PYTHON) -m venv $(PEERS)/eval
	$(PEERS)/eval/bin/pip install -qq --disable-pip-version-check --no-compile \
		-e '.[eval,eval-langgraph,eval-mem0,eval-mempalace]'
	@$(call timed,$(PEERS)/eval/bin/python -m eval run --set $(SET) $(if $(DATA),--data $(DATA)) \
		--systems $(COMPARED) --no-pack)

clean:
	rm -rf $(VENV) $(FRAMEWORKS) $(PEERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
