# Needs python3 with venv, make and git; everything else is fetched into this checkout on first use.
BIN := .venv-uv/bin
UV_VERSION := 0.13.9
PYENV := $(or $(PYENV_ROOT),$(HOME)/.pyenv)
SPACE := $(subst ,, )
export UV_PYTHON_DOWNLOADS := never
export UV_COMPILE_BYTECODE := 1
export PATH := $(CURDIR)/$(BIN):$(PATH):$(subst $(SPACE),:,$(wildcard $(PYENV)/versions/3.1[0-9]*/bin))
RUN := uv run --quiet --all-packages

.DEFAULT_GOAL := help
.PHONY: help demo demo-live test test-full soak lint fix bench build clean

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

$(BIN)/uv:
	@python3 -m venv .venv-uv 2>/dev/null || { rm -rf .venv-uv; \
	  echo "python3 has no venv module: install it (Debian and Ubuntu: apt install python3-venv) and run make again." >&2; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

demo: $(BIN)/uv  ## watch a memory at work, on a scratch folder
	@$(RUN) kg demo

demo-live: $(BIN)/uv  ## the same, and keep the server until Ctrl-C
	@$(RUN) kg demo --live

test: $(BIN)/uv  ## every distribution alone, the whole system, style, types, layers
	@uv run --quiet --only-group dev tox run-parallel --parallel 2 --parallel-no-spinner

test-full: $(BIN)/uv  ## all of test, and the long campaigns
	@KG_CLIENT_TESTS=1 KG_LONG_TESTS=1 uv run --quiet --only-group dev tox run-parallel --parallel 2 --parallel-no-spinner

soak: $(BIN)/uv  ## random use of the memory beside a model, for an hour (KG_SOAK_SECONDS)
	@KG_SOAK_SECONDS=$${KG_SOAK_SECONDS:-3600} $(RUN) --group test pytest -q --show-capture=no packages/kg-server/tests/service/test_memory_stateful.py

lint: $(BIN)/uv  ## style, types and layers alone
	@uv run --quiet --only-group dev tox run -e lint

fix: $(BIN)/uv  ## put style right
	@uv run --quiet --only-group lint ruff check --fix . && uv run --quiet --only-group lint ruff format .

bench: $(BIN)/uv  ## time hook, shim and server beside their floors and a peer
	@$(RUN) python benchmarks/run.py

build: $(BIN)/uv  ## wheels and source distributions of every package, into dist/
	@uv build --quiet --all-packages

clean:  ## remove what these commands made
	rm -rf .venv .venv-uv .tox .tools dist
