# Nine targets; each makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := runs/demo
SAMPLE := src/portrayal/studies/laissez_faire

.PHONY: demo test lint docs dist release bench audit-deps clean

# Audit the example of a file of one's own; then the sample, in which three differences are planted,
# and compare it with one without.
demo: $(BIN)/portrayal
	$(BIN)/portrayal audit examples/assistant/answers.csv --out $(RUN)-answers
	$(BIN)/portrayal audit laissez-faire --sample --out $(RUN)
	$(BIN)/portrayal audit laissez-faire --texts $(SAMPLE)/sample_plain.jsonl --out $(RUN)-plain
	$(BIN)/portrayal compare $(RUN)-plain $(RUN)
	@echo "Open $(RUN)-answers/report.html and $(RUN)/report.html in a browser."

# Lint, types, unit, acceptance, end-to-end and browser tests. EXTRAS=1 adds a second run with the
# heavy extras (local models, Inspect AI, Dask), in which no test may skip for want of them,
# all cases of each matrix (marker `matrix`: every width, fault, forgery), of which one is run else,
# and five minutes of random damage for each reader of files.
test: lint
	scripts/install-browser
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(if $(EXTRAS),-m "")
ifdef EXTRAS
	$(BIN)/python -m pip install --quiet "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --editable ".[agency,cluster,onnx,toxicity]"
	PORTRAYAL_ALL_EXTRAS=1 $(BIN)/python -m pytest -m "" tests/models tests/annotate/test_toxicity.py tests/annotate/agency tests/e2e/test_cluster.py tests/report/test_limits.py tests/docs
	PORTRAYAL_FUZZ_SECONDS=300 $(BIN)/python -m pytest -m "" --numprocesses auto tests/fuzz
	$(MAKE) docs dist
endif

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/mypy

# Write the pages into build/docs, those from the code with them, then the site: open site/index.html.
docs: $(VENV)/.dev $(VENV)/site/.built build/iframe-worker.js
	$(BIN)/python scripts/build_docs.py
	mkdir -p build/docs/assets && cp build/iframe-worker.js build/docs/assets/
	$(VENV)/site/bin/zensical build --clean --strict

# Build a wheel and a source archive into dist/, and try both in an environment with nothing else.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m hatchling build
	PORTRAYAL_DIST=dist $(BIN)/python -m pytest --numprocesses 0 tests/guards/test_packaged.py

# All that a release takes but the upload, which it prints: one version everywhere, and the archives tried.
release: dist
	$(BIN)/python scripts/release.py

# Print the figures of docs/benchmarks.md; takes some minutes.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# Look every installed dependency up among the known vulnerabilities; needs the network.
audit-deps: $(VENV)/.dev
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet "pip-audit>=2.7"
	$(BIN)/python -m pip list --format freeze --exclude-editable > $(VENV)/audit/installed.txt
	$(VENV)/audit/bin/pip-audit --requirement $(VENV)/audit/installed.txt --no-deps --disable-pip --strict --progress-spinner off

clean:
	rm -rf $(VENV) runs build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/portrayal: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# A script of the site's theme (MIT), from its npm package: search in pages that are opened from a disk.
build/iframe-worker.js:
	mkdir -p $(@D)
	package=$$(npm pack --silent iframe-worker@1.0.4) && tar -xzOf $$package package/shim/index.js > $@ && rm $$package

$(VENV)/site/.built: pyproject.toml
	$(PYTHON) -m venv $(VENV)/site
	$(VENV)/site/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)/site/bin/python -m pip install --quiet --group site
	@touch $@

$(VENV)/.dev: $(BIN)/portrayal
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
