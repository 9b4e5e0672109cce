# Two commands do everything on a fresh machine: `make run` and `make test`.
# They need Python 3.11 to 3.13, git and make; what else is missing is installed here, and said.

SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
CONFIG ?= $(firstword $(wildcard haechi.toml) samples/haechi.toml)

.PHONY: help run test test-long check image-check bench lock clean

help: ## what the targets do
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

run: $(VENV)/.run ## start the bot with its web page (samples, or your haechi.toml)
	@$(BIN)/haechi --config $(CONFIG) run

test: check browser-tools ## everything that CI runs: style, types, all tests but the long ones
	@echo "== tests of the whole product"
	@$(BIN)/pytest tests/e2e -m "not long"

test-long: $(VENV)/.dev readers browser-tools ## the tests that take longer than a minute each
	@$(BIN)/pytest tests -m long

check: $(VENV)/.dev readers client-tools ## ruff, mypy --strict, unit, contract and architecture tests
	@echo "== style and types"
	@$(BIN)/ruff check bot knowledge tests benchmarks samples
	@$(BIN)/ruff format --check bot knowledge tests benchmarks
	@$(BIN)/mypy
	@echo "== unit, contract and architecture tests"
	@$(BIN)/pytest tests/unit tests/contract tests/architecture tests/robustness -m "not long"

image-check: $(VENV)/.dev ## the container: linter, agreement of its files, and (as root, on Debian) its steps in a plain folder
	@$(BIN)/pytest tests/architecture/test_container.py
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then scripts/try-image; \
	else echo "Not root on Debian or Ubuntu: the image was not tried out. With an engine: docker build -t haechi ."; fi

bench: $(VENV)/.dev ## embedding rate, search latency and memory at 20,000 and 200,000 chunks; JSON lines
	@$(BIN)/python benchmarks/embedding.py
	@$(BIN)/python benchmarks/search_scale.py

lock: $(VENV)/.dev ## write the hash locks anew from pyproject.toml (needs uv)
	@scripts/lock

clean: ## remove the environment and caches; data/ stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: browser-tools client-tools readers
browser-tools:
	@scripts/install-browser

client-tools:
	@scripts/install-node

readers: ## install what reads scans and old Word files: Tesseract (Korean, English), LibreOffice
	@scripts/install-readers

$(VENV)/.run: requirements.lock pyproject.toml scripts/install
	@scripts/install requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml scripts/install
	@scripts/install requirements-dev.lock
	@touch $@ $(VENV)/.run
