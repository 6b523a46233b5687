# Six targets; each makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint docs bench clean

$(BIN)/portrayal: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	touch $(BIN)/portrayal

$(VENV)/.dev: $(BIN)/portrayal
	$(BIN)/python -m pip install --quiet --group dev
	touch $(VENV)/.dev
