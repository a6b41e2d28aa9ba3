# Every target sets itself up: a virtual environment in .venv, the package built into it.
PYTHON ?= python3
BIN := .venv/bin
# Empty, so that what Python compiles is kept: tests start a hundred processes, and pytest compiles each of their files.
export PYTHONDONTWRITEBYTECODE :=
SOURCES := $(wildcard src/core/*/*.cpp src/core/*/*.h src/bindings/*.cpp src/bindings/*.h) CMakeLists.txt pyproject.toml

# What an extra of pyproject.toml lists, without building the package once more.
define install_extra
$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(1)'], sep='\n')" \
	| $(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement /dev/stdin
endef

, := ,
# Checks the core in build/sanitize-$(1) under the sanitizers $(2).
define sanitized
PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/sanitize-$(1) -DTOPDAG_SANITIZE=$(2)
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/sanitize-$(1) --parallel 2
	build/sanitize-$(1)/core_check
endef

.PHONY: demo test test-fast lint fuzz sanitize site notebooks sdist wheels test-oldest bench stub clean

demo: .venv/built
	$(BIN)/topdag demo

test: .venv/tested
	$(BIN)/python -m pytest --numprocesses auto

# Those tests that took little time when they last ran; all of them the first time.
test-fast: .venv/tested
	$(BIN)/python -m pytest --numprocesses auto --fast

lint: .venv/linted
	$(BIN)/ruff check src tests bench website
	$(BIN)/ruff format --check src tests bench website
	$(BIN)/mypy
	diff -u src/topdag/_core.pyi build/*/_core.pyi

# Changed files for every reader, on the seed of the day: make fuzz SECONDS=600 SEED=7
SECONDS ?= 60
fuzz: .venv/tested
	PYTHONPATH=tests:tests/support $(BIN)/python -m slow.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# The core on its own: memory and undefined behaviour, then threads that share what is not guarded.
sanitize: .venv/cmake
	$(call sanitized,address,address$(,)undefined)
	$(call sanitized,thread,thread)

# Writes the core's stub anew after its interface changed.
stub: .venv/built
	cp build/*/_core.pyi src/topdag/_core.pyi

# The docs as a site, in build/site; a link that leads nowhere is an error.
site: .venv/documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Executes the notebooks anew and keeps what they print.
notebooks: .venv/tested
	$(BIN)/python -m website.notebooks

# A source distribution, built, installed in an empty environment without cmake or ninja, and tried.
sdist: .venv/bin/python
	.ci/try_sdist $(BIN)/python

# Wheels that need no compiler, in build/wheels, each tried in an empty environment.
wheels: .venv/bin/python
	.ci/wheels $(CURDIR)/$(BIN)/python

# The tests on the oldest versions that pyproject.toml allows.
test-oldest:
	.ci/test_oldest $(PYTHON)

bench: .venv/built
	$(BIN)/python -m bench

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/built: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/tested: .venv/built
	$(call install_extra,test)
	touch $@

.venv/linted: .venv/tested
	$(call install_extra,lint)
	touch $@

.venv/documented: .venv/built
	$(call install_extra,docs)
	touch $@

.venv/cmake: .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cmake
	touch $@

clean:
	rm -rf .venv build
