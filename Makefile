# Builds its own environment in .venv; PYTHON=… chooses the interpreter, 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DISTS := . clients/python $(patsubst %/pyproject.toml,%,$(wildcard variants/*/pyproject.toml))
PROTOS := $(wildcard proto/rummy500/v1/*.proto)
ENGINE := $(wildcard server/src/rummy500_engine/*.py)
SERVER := $(wildcard server/src/rummy500_server/*.py server/src/rummy500_server/*/*.py)
INSTALLED := $(VENV)/.installed
GENERATED := $(VENV)/.generated
BENCH := $(VENV)/.bench
COMPILED := build/compiled/.compiled

.PHONY: install proto lint test check demo compile test-compiled bench torture contract dist clean

install: $(INSTALLED) $(GENERATED)  ## everything in this checkout, editable

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed: install Python 3.11 or newer, or name it: make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is $$($(PYTHON) -V 2>&1), but Rummy 500 needs Python 3.11 or newer: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"

$(INSTALLED): $(BIN)/python $(addsuffix /pyproject.toml,$(DISTS)) proto/hatch_build.py
	@echo "installing into $(VENV): this takes minutes the first time"
	$(BIN)/python -m pip install -q $(addprefix -e ./,$(DISTS)) --group dev
	@touch $@

$(GENERATED): $(INSTALLED) $(PROTOS) proto/generate.py
	$(BIN)/python proto/generate.py
	@touch $@

$(BENCH): $(INSTALLED)
	$(BIN)/python -m pip install -q -e ".[bench]"
	@touch $@

$(COMPILED): $(INSTALLED) $(GENERATED) $(ENGINE) $(SERVER) server/compile_rooms.py
	$(BIN)/python server/compile_rooms.py build/compiled
	@touch $@

proto: $(INSTALLED)  ## the stubs, after a .proto file changed
	$(BIN)/python proto/generate.py
	@touch $(GENERATED)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/buf lint proto
	$(BIN)/buf format -d --exit-code proto
	$(BIN)/buf breaking proto --against proto/contract.binpb

check: lint

test: install
	$(BIN)/python -m pytest

demo: install  ## a server, two bots, a match of 20 deals
	$(BIN)/rummy500 demo --records build/demo

compile: install $(COMPILED)  ## engine and server as machine code in build/compiled; needs a C compiler

test-compiled: compile  ## the scenarios and the tests of engine and server, played by what is compiled
	PYTHONPATH=build/compiled $(BIN)/python -m pytest tests/engine tests/scenarios tests/variants tests/server

bench: install compile $(BENCH)  ## prints a table and writes build/bench.json
	$(BIN)/python -m tests.bench

torture: install  ## the long proofs of what a server survives; each writes its figures into build/
	$(BIN)/python -m tests.torture fuzz
	$(BIN)/python -m tests.torture kills
	$(BIN)/python -m tests.torture matches
	$(BIN)/python -m tests.torture power
	$(BIN)/python -m tests.torture soak

contract: install  ## the image that `buf breaking` compares with; only in a commit named "contract: …"
	$(BIN)/buf build proto --exclude-source-info -o proto/contract.binpb

dist: install  ## one wheel per distribution, as a user would get them
	rm -rf dist
	for d in $(DISTS); do $(BIN)/python -m pip wheel -q --no-deps -w dist ./$$d || exit 1; done

clean:
	rm -rf $(VENV) dist build
	find proto -name '*_pb2*' -delete
