# Everything that people and CI do here; `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt
# arguments for pytest, the demo or a bench: make test ARGS="tests/unit -k keys"
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: install dev demo test lint bench campaign schemas clean help

install: $(VENV)/.installed ## a virtual environment in .venv with casetape in it, from nothing
dev: $(VENV)/.dev ## the same with what tests and checks need

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "casetape needs Python 3.11 or newer: make PYTHON=/path/to/python3 install")'
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) pip setuptools
	$(PIP) --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP) --no-build-isolation --editable '.[dev]'
	@touch $@

demo: install ## a real data set and an analyst's sentence become cases with a history
	@$(BIN)/casetape demo $(ARGS)

test: dev ## all tests
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: dev ## types, style and form
	@$(BIN)/mypy
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

bench: dev ## the performance figures that the README states
	@$(BIN)/python -m bench $(ARGS)

campaign: dev ## all tests, the long ones too, with many more generated examples
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m 'campaign or not campaign' --timeout 0 --hypothesis-profile campaign $(ARGS)

schemas: install ## writes the JSON Schemas of the records to schemas/jsonschema
	@$(BIN)/python -m schemas.export

clean: ## removes the virtual environment and everything that tools left
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-12s%s\n", $$1, $$2}' $(MAKEFILE_LIST)
