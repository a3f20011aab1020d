# Each target does all its own set-up: a virtual environment in .venv with the versions of constraints.txt, made
# once and renewed only when the requirements change. Needs Python 3.11 to 3.13, as TensorFlow does; which: make PYTHON=...
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
INSTALLED := $(VENV)/.installed
# When the requirements change, our own environment is made anew for another Python; one that is given as VENV is taken
# as it is. To change the Python at another time, delete .venv/.installed.
SAME_PYTHON = $(if $(filter file,$(origin VENV)),-a "$$($(VENV)/bin/python -V 2>/dev/null)" = "$$($(PYTHON) -V)")

BACKENDS_VENV := .venv-backends
BACKENDS_INSTALLED := $(BACKENDS_VENV)/.installed

# Two processes of one thread each: most tests trace graphs, which takes one core.
PARALLEL := -n 2 --dist worksteal

.DELETE_ON_ERROR:
.PHONY: help install demo test test-all test-backends fuzz fuzz-server crash-test lint

help:
	@echo "make install        install everything into $(VENV), once"
	@echo "make demo           train ByteNet on number words, score it on held-out numbers, show its translations"
	@echo "make test           run the tests"
	@echo "make test-all       run the thorough and the slow tests, too"
	@echo "make test-backends  compare the numbers of JAX and PyTorch with those of TensorFlow"
	@echo "make fuzz           try sixteen readers of files with 10,000 damaged or random inputs (CASES=..., SEED=...)"
	@echo "make fuzz-server    send 10,000 bad and odd requests to a translation server"
	@echo "make crash-test     kill commands at random moments, fill the disk (KILLS=..., SEED=...; about half an hour)"
	@echo "make lint           check the style and the types of the code"

install: $(INSTALLED)

# A demo that was interrupted goes on, and a finished one is not trained again: --resume.
demo: $(INSTALLED)
	$(VENV)/bin/bytenet train numbers --run runs/demo --resume
	$(VENV)/bin/bytenet evaluate runs/demo --split test --show 20

test: $(INSTALLED)
	$(VENV)/bin/pytest $(PARALLEL) $(if $(MARKS),-m "$(MARKS)")

test-all: $(INSTALLED)
	$(VENV)/bin/pytest $(PARALLEL) -m ""

# JAX and PyTorch compute the numbers in an environment of their own, which has no TensorFlow.
test-backends: $(INSTALLED) $(BACKENDS_INSTALLED)
	BACKENDS_PYTHON=$(BACKENDS_VENV)/bin/python $(VENV)/bin/pytest tests/contract/backends/test_backends.py

# The fuzzers of tests/fuzz; their figures are in docs/reliability.md. Coverage-guided fuzzing needs atheris, which has
# wheels for some machines only: it is tried, and left out where it cannot be installed.
fuzz: $(INSTALLED)
	CUDA_VISIBLE_DEVICES= $(VENV)/bin/python -m tests.fuzz --cases $(or $(CASES),10000) --seed $(or $(SEED),1)
	if $(VENV)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzz]'; then \
		for target in configurations overrides measurements; do \
			$(VENV)/bin/python -m tests.fuzz.coverage_guided $$target -runs=20000 -max_total_time=60 -seed=1 || exit 1; \
		done; \
	else echo "atheris cannot be installed here: no coverage-guided fuzzing" >&2; fi

# Nine tests send this many requests, three send one.
fuzz-server: $(INSTALLED)
	BYTENET_FUZZ_REQUESTS=1150 $(VENV)/bin/pytest --timeout 3600 tests/serving/test_fuzzing.py

# The kills, full disks and odd surroundings of tests/crash; their figures are in docs/reliability.md.
crash-test: $(INSTALLED)
	$(VENV)/bin/python -m tests.crash --kills $(or $(KILLS),50) --seed $(or $(SEED),1)

lint: $(INSTALLED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(INSTALLED): setup.cfg pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Python 3.11 to 3.13 is needed. Install it, or say where it is: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Installing into $(VENV) (once; about 3 GB, some minutes) ..." >&2
	@test -x $(VENV)/bin/pip $(SAME_PYTHON) || $(PYTHON) -m venv $(if $(SAME_PYTHON),--clear) $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

$(BACKENDS_INSTALLED): tests/contract/backends/requirements.txt requirements-fit.txt constraints.txt | $(INSTALLED)
	@echo "Installing JAX and PyTorch into $(BACKENDS_VENV) (once, some minutes) ..." >&2
	$(VENV)/bin/python -m venv --clear $(BACKENDS_VENV)
	$(BACKENDS_VENV)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r tests/contract/backends/requirements.txt
	touch $@
