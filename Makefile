# `make demo` and `make test` are all a newcomer needs; each builds its own environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types bench bench-quick fuzz soak odd-data docs examples build cold-start clean

$(STAMP): requirements/all.txt pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing --python $(PYTHON) $(VENV) && uv pip install -q --python $(BIN)/python -r requirements/all.txt && uv pip install -q --python $(BIN)/python --no-deps -e .; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install -q --no-compile --disable-pip-version-check -r requirements/all.txt && $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .; \
	fi
	@touch $@

# An environment with what the demo needs and nothing else; where the one for development is there, that one.
DEMO := $(if $(wildcard $(STAMP)),$(VENV),.demo)
demo:
	@[ -x $(DEMO)/bin/latentgram ] || { $(PYTHON) -m venv $(DEMO) && \
	  $(DEMO)/bin/python -m pip install -q --disable-pip-version-check -c requirements/all.txt -e .; }
	$(DEMO)/bin/latentgram demo --output latentgram-demo

test: $(STAMP)
	@if command -v npm >/dev/null 2>&1; then for tests in web consumer; do \
	  npm install --silent --no-audit --no-fund --no-package-lock --prefix tests/$$tests >/dev/null 2>&1 || echo "what tests/$$tests needs from npm cannot be installed here: a test is skipped"; done; fi
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

bench: $(STAMP)
	@for bench in benchmarks/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

# One table in five minutes; fails where something takes 15 % more than is expected of it.
bench-quick: $(STAMP)
	$(BIN)/python benchmarks/bench_quick.py

# The long rounds: readers, forged model files with and without bounds checks, command lines, full disks, signals.
fuzz: $(STAMP) odd-data
	FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest tests/fuzz tests/web/test_schema.py
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(BIN)/python -r requirements/fuzz.txt; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/fuzz.txt; fi
	PYTHONPATH=tests $(BIN)/python tests/fuzz/guided.py --seconds 600
	PYTHONPATH=tests $(BIN)/python tests/fuzz/forging.py --rounds 50000
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/bounds-checked PYTHONPATH=tests \
	  $(BIN)/python tests/fuzz/forging.py --rounds 50000
	PYTHONPATH=tests $(BIN)/python tests/fuzz/command_lines.py --rounds 20000
	PYTHONPATH=tests $(BIN)/python tests/faults/full_disk.py
	PYTHONPATH=tests $(BIN)/python tests/faults/battery.py --rounds 200

# An hour of the page under ten clients, and a million sentences: memory must not grow.
soak: $(STAMP)
	PYTHONPATH=tests $(BIN)/python tests/faults/soak.py page
	PYTHONPATH=tests $(BIN)/python tests/faults/soak.py parse --minutes 600

# Tiny and odd treebanks for every recipe, with every access to an array in compiled code checked.
odd-data: $(STAMP)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/bounds-checked PYTHONPATH=tests $(BIN)/python tests/fuzz/odd_data.py $(ODD)

docs: $(STAMP)
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html

# The pictures of the guide; the examples themselves run when the docs are built.
examples: $(STAMP)
	@for example in docs/draw_*.py; do echo "== $$example"; $(BIN)/python $$example || exit 1; done

# A wheel with compiled kernels for this Python, numba and system, and the sources; needs no development tools.
build:
	$(PYTHON) -m venv .build
	.build/bin/python -m pip install -q --disable-pip-version-check build .
	rm -rf src/latentgram/_compiled
	PYTHONPATH=src .build/bin/python -m latentgram warm-up --ship
	.build/bin/python -m build --sdist --wheel
	rm -rf src/latentgram/_compiled

# The wheel in an empty, read-only environment without a home: processor time to the first parse of each parser.
cold-start: $(STAMP)
	$(BIN)/python benchmarks/bench_cold_start.py --wheel $(lastword $(sort $(wildcard dist/*.whl)))

clean:
	rm -rf $(VENV) .build .demo src/latentgram/_compiled dist build docs/_build latentgram-demo
