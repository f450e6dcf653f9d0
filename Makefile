# Every target sets up its own virtual environment in .venv; all it takes is python3 >= 3.11 and git >= 2.38.
#
#   make demo         two agents and a human in a throw-away repository
#   make quick        what each room does, in this process: under a minute, for after every change
#   make test         the test suite, in the size of a CI run; ARGS='-k why' goes to pytest
#   make lint         ruff, mypy, shellcheck, man pages
#   make bench        cost against git, as ratios; ARGS=--full for the long ones
#   make real-agents  the tests that drive agents and hook frameworks from npm and pip
#   make full         all of it, every sweep and crowd in its whole size

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=
# One more than processors: a test that waits for a process leaves one idle. Two more took longer.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

SHELL_FILES := .ci/run contrib/completion/git-ralph.bash $(shell find contrib/hooks contrib/ci -type f \( -name '*.sh' -o -name pre-commit \) 2>/dev/null)
PAGES := $(wildcard man/*.[1-8])

ROOMS := $(wildcard $(addprefix tests/,base hook lines git records decide words commit sessions takeback ask guard setup tasks cli))

.PHONY: alone demo quick test lint ruff types shell man bench real-agents full venv clean

test: $(READY)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

quick: $(READY)
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not wired" --ignore=tests/tasks/fleet $(ROOMS) $(ARGS)

demo:
	@echo "Two agents and a human edit one throw-away repository at once; nothing of yours is touched."
	@test -x $(BIN)/git-ralph || $(MAKE) -s alone
	@$(BIN)/git-ralph demo $(ARGS)

# what runs the tool, and nothing of what tests it
alone:
	@test -n "$(PYTHON)" || { echo "error: python 3.11 or newer is needed" >&2; exit 1; }
	@echo "First time: installing it into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -e .

venv: $(READY)

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: python 3.11 or newer is needed" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install -q --group test --group lint -e .
	@$(BIN)/python -m compileall -q -j 0 gitralph  # else each worker of a first run does
	@touch $@

lint: ruff types shell man

ruff: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy --strict

shell:
	@if command -v shellcheck >/dev/null; then shellcheck $(SHELL_FILES); \
	else echo "SKIPPED: shellcheck is not installed" >&2; fi

man:
	@if command -v mandoc >/dev/null; then mandoc -T lint -W warning $(PAGES); \
	else echo "SKIPPED: mandoc is not installed" >&2; fi

bench: $(READY)
	@$(BIN)/python -m benchmarks.bench $(ARGS)

real-agents: $(READY)
	@RALPH_FULL=1 $(BIN)/python -m pytest -m "agents or tools" -rs $(ARGS)

full: lint
	@RALPH_FULL=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not agents and not tools" $(ARGS)
	@$(MAKE) -s real-agents
	@$(BIN)/python -m benchmarks.bench --full

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache
