# `make` alone prints what there is to do.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help install demo docs test test-thorough test-learned test-containers test-environments test-long test-faults audit release-rehearsal drills soak fuzz drop-in mutants sanitize lint keywords format bench bench-check kernels wheels lock migration clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(VENV)/installed  ## make .venv with all that is needed and compile the kernels

# Debian's python3 can give an environment no pip unless python3-venv is there too: then bring_pip.py helps out.
$(VENV)/installed: pyproject.toml client/pyproject.toml library/pyproject.toml library/hatch_build.py $(wildcard library/steelyard/kernels/*.[ch] library/steelyard/kernels/*/*.[ch])
	test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null 2>&1 || $(BIN)/python bring_pip.py
# The commands were once the server's: uninstalled after the library's were written, it would take them away.
	$(BIN)/python -m pip uninstall --quiet --yes steelyard-server 2>/dev/null || true
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable './library[vectors,ja,ko,spm]' --editable ./client --editable '.[dev]'
	@touch $@

docs: install  ## build the documentation's site into web/documentation, where `steelyard serve` finds it
	@rm -rf web/documentation build/documentation
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --doctree-dir build/documentation docs web/documentation

demo: install  ## evaluate the small campaign that comes with the project
	$(BIN)/steelyard demo

# Where the environment forbids to keep what was compiled, each of the processes would compile all tests again.
test: export PYTHONDONTWRITEBYTECODE =
test: install  ## run the default test suite; it brings its own Redis and PostgreSQL
	$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder

test-thorough: export PYTHONDONTWRITEBYTECODE =
test-thorough: install  ## the cases that `make test` leaves out since a few others show the same; CI runs them all
	$(BIN)/python -m pytest -m 'thorough and not long' --numprocesses 4 --dist loadfile --no-loadscope-reorder

test-service-postgres: export PYTHONDONTWRITEBYTECODE =
test-service-postgres: install  ## the tests of campaigns, API and pages again, on PostgreSQL
	STEELYARD_TEST_SERVICE_DATABASE=postgres $(BIN)/python -m pytest -m 'not long and not containers' --numprocesses 4 --dist loadfile --no-loadscope-reorder tests/campaigns tests/web --ignore tests/web/browser --ignore tests/web/hostile

# In an environment of its own: the packages that run models are of no use to other tests. The library is that of this folder.
LEARNED := .venv-learned
NEEDED := import tomllib; p = tomllib.load(open("library/pyproject.toml", "rb"))["project"]; print(*p["dependencies"], *p["optional-dependencies"]["learned"], sep="\n")
ON_THE_QUEUE := import glob, sys, pytest; sys.path += glob.glob("$(LEARNED)/lib/python*/site-packages"); sys.exit(pytest.main(["tests/worker/learned/test_models.py", "tests/faults/workers/test_scorers.py"]))
test-learned: install  ## the tests of learned metrics, with the packages of steelyard[learned]
	test -x $(LEARNED)/bin/python || $(PYTHON) -m venv --without-pip $(LEARNED)
	$(LEARNED)/bin/python -m pip --version >/dev/null 2>&1 || $(LEARNED)/bin/python -m ensurepip >/dev/null 2>&1 || $(LEARNED)/bin/python bring_pip.py
	$(BIN)/python -c '$(NEEDED)' > $(LEARNED)/needed.txt
	$(LEARNED)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(LEARNED)/needed.txt pytest hypothesis
	STEELYARD_TEST_LEARNED=1 $(LEARNED)/bin/python -m pytest --confcutdir tests/library/metrics/learned tests/library/metrics/learned
# On the queue, by the server's environment, which finds there what it lacks.
	STEELYARD_TEST_LEARNED=1 $(BIN)/python -c '$(ON_THE_QUEUE)'

test-containers: install  ## build the image and run what the compose file says, with podman (Debian, as root)
	$(BIN)/python -m pytest -m containers tests/containers

test-environments: install  ## a few hundred tests with the oldest and newest dependencies and other Pythons (NAMES="oldest 3.13")
	$(BIN)/python -m tests.releases.environments $(NAMES)

audit: install  ## is anything that an image may have known to be vulnerable?
	$(BIN)/python -m tests.releases.audit

release-rehearsal: install  ## build a release, install it elsewhere and try it (OPTIONS="--released --into dist")
	$(BIN)/python -m tests.releases.rehearsal $(OPTIONS)

test-long: install  ## long tests that CI runs besides: growth in instructions, a short storm of faults, guesses, kernels under an emulator, a rehearsal of WMT25's size
	$(BIN)/python -m pytest -m long --numprocesses 3 -k "not scoring" tests/growth tests/faults/test_storm.py tests/web/hostile/disclosure tests/library/test_wheels.py tests/acceptance/test_rehearsal.py

test-faults: install  ## the long fault tests, then kill, freeze and cut everything for a while (SEED=7 SECONDS=300)
	$(BIN)/python -m pytest -m long tests/faults
	$(BIN)/python -m tests.faults.storm $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS))

drills: install  ## what an operator may have to live through: failover, restore, a full store, expired certificates
	$(BIN)/python -m pytest -m long tests/faults/drills

fuzz: install  ## give every reader of texts and judgments what a fuzzer makes up (SECONDS=3600 NAMES="tsv treex")
	$(BIN)/python -m tests.fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(NAMES)

soak: install  ## the storm of faults for an hour (SECONDS=3600 SEED=7)
	$(BIN)/python -m tests.faults.storm --seconds $(or $(SECONDS),3600) $(if $(SEED),--seed $(SEED))

drop-in: install  ## run sacreBLEU's own tests with the import changed (fetches its source distribution)
	$(BIN)/python -m tests.sacrebleus_tests $(SDIST)

mutants: install  ## put small faults into a copy of the code: which does no test find? (SEED=7 COUNT=40 AREA=claims FILE=part)
	$(BIN)/python -m tests.mutants $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(if $(AREA),--area $(AREA)) $(if $(FILE),--file $(FILE))

sanitize: install  ## hostile texts and the kernels' tests with a build that ends at reads and writes out of bounds, and at undefined behaviour (gcc)
	$(BIN)/python -m tests.sanitized

lint: install  ## style, types and the rule of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

keywords: install  ## write what type checkers know of the keywords of metrics: library/steelyard/metrics/keywords.py
	$(BIN)/python library/metric_keywords.py

format: install  ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install  ## measure everything that docs/explanation/performance.md shows (NAMES="warm cold" DATA="DIR ..." OPTIONS=--quick)
	$(BIN)/python -m benchmarks $(NAMES) $(if $(DATA),--data $(DATA)) $(OPTIONS)

bench-check: install  ## count instructions: does anything take more than is kept? (NAMES="ter bleu" QUICK=1 UPDATE=1)
	$(BIN)/python -m benchmarks.gate $(NAMES) $(if $(QUICK),--quick) $(if $(UPDATE),--update)

kernels:  ## compile the kernels alone (CC=gcc takes that compiler, and 2 seconds)
ifeq ($(origin CC),default)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable ./library
else
	CC=$(CC) $(BIN)/python library/hatch_build.py
endif

wheels: install  ## build the library's wheels for all platforms into dist/
	$(BIN)/python library/wheels.py

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-package steelyard \
	--no-emit-package steelyard-client --no-emit-package steelyard-server
lock: install  ## pin what the image installs by hashes: docker/requirements.txt, for each extra requirements-EXTRA.txt; and its licences
	printf '%s\n' './library[vectors,langid,lemmas,spm]' ./client '.[s3,share,sso,traces]' | $(LOCK) --output-file docker/requirements.txt -
	for extra in ja ko learned; do \
	  echo "./library[$$extra]" | $(LOCK) --constraint docker/requirements.txt --output-file docker/requirements-$$extra.txt - ; \
	done
	$(BIN)/python -m tests.releases.licences

migration: install  ## write a migration for changed tables: make migration NAME=what_changed
	@rm -f build/migration.db; mkdir -p build
	$(BIN)/steelyard db upgrade --database sqlite:///build/migration.db
	STEELYARD_DATABASE_URL=sqlite:///build/migration.db $(BIN)/alembic revision --autogenerate -m "$(NAME)"
	@$(BIN)/ruff check --fix --quiet alembic; $(BIN)/ruff format --quiet alembic
	$(BIN)/python -m models.database.creation

clean:  ## remove the environment and everything that was made
	rm -rf $(VENV) $(LEARNED) steelyard-demo library/steelyard/kernels/_kernels.so .pytest_cache .mypy_cache .ruff_cache .hypothesis web/documentation build/documentation
