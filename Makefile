# Everything starts from a bare clone with python3 (3.11+) and make; uv, where it is on PATH, makes set-up faster.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

CHEAP      := .[ray,baselines,browser,docs,examples]
EVERYTHING := .[ray,baselines,browser,docs,examples,spark-local,sft,sentence-test]

UV      := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check --no-compile)

# Installs what $(1) names, with a dot a second on the terminal and the installer's words in a file, shown if it fails.
define install
	@printf 'Installing %s with $(if $(UV),uv,pip) ' '$(strip $(1))'; \
	$(INSTALL) -c constraints.txt -e '$(strip $(1))' >$(VENV)/install.log 2>&1 & pid=$$!; \
	trap 'kill $$pid; exit 130' INT TERM; \
	while kill -0 $$pid 2>/dev/null; do printf .; sleep 1; done; echo; \
	wait $$pid || { cat $(VENV)/install.log; exit 1; }
endef

.PHONY: setup demo test test-extras lint format types tables docs pictures notebooks vendor studio release clean

setup: $(VENV)/.ready

# What using tableturn takes, which is all that the demo needs. Python's own pip may be years old, and resolves in twice the time.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tableturn needs Python 3.11 or newer; set PYTHON=")'
	@echo 'Making a virtual environment in $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	$(if $(UV),,-@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip)
	$(call install, .)
	@touch $@

# What working on it takes.
$(VENV)/.ready: $(VENV)/.installed
	$(call install, .[dev])
	@touch $@

demo: $(VENV)/.installed
	@$(BIN)/python -m tableturn.agent.cli.demo

# What needs a server of its own, benchmark data, a browser or an extra runs with ALL=1, as in .ci/run; tests of the extra
# `sft`, which takes gigabytes, are left to test-extras. Servers and browsers that are not ours stumble on busy machines: a
# test that fails is tried again, and the summary says which were.
test: lint types
ifdef ALL
	$(call install, $(CHEAP))
	$(BIN)/python -m pytest -n 2 --reruns 2 -rR
else
	$(BIN)/python -m pytest -n 2 -m 'not (studio or data or extra or whole)'
endif
	@mkdir -p build; git rev-parse HEAD >build/tested 2>/dev/null || true

# Ray, LangChain's own agent, a browser's driver, Spark, torch and a sentence model are large, and most work needs none of them.
test-extras: setup
	$(call install, $(EVERYTHING))
	$(BIN)/python -m pytest -m extra

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Type checkers don't follow the package mapping of an editable install: give them a folder that looks installed.
types: setup
	$(BIN)/python -m tests.support.installed_layout
	$(BIN)/pyright --pythonpath $(BIN)/python

# The documentation as a site, in build/site: open index.html. A warning is an error. The variable keeps an advertisement out.
docs: setup
	$(call install, .[docs])
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The tables within pages that are made from the code; a test fails where they are stale.
tables: setup
	$(BIN)/python -m tests.docs.tables

# The documentation's pictures: charts, the graph, a chat at a terminal, and, by a Chromium, the page and an evaluation's report.
pictures: setup
	$(BIN)/python -m tests.corpus.gallery docs
	$(BIN)/python -m tests.support.graph_picture docs
	$(BIN)/python -m tests.support.chat_picture docs
	$(BIN)/python -m tests.support.benchmark_pictures docs/figures
	$(call install, .[browser])
	$(BIN)/python -m tests.support.page_pictures docs
	$(BIN)/python -m tests.support.report_picture docs

# The outputs in the notebooks of examples/.
notebooks: setup
	$(BIN)/python -m tests.support.notebooks examples

# The libraries of the server's page and of the documentation, as each folder's libraries.json names them; takes npm.
vendor: setup
	$(BIN)/python -m tests.support.vendor

studio: setup
	TABLETURN_COMMANDS=$${TABLETURN_COMMANDS:-on} $(BIN)/langgraph dev --no-browser

# Builds sdist and wheel of a committed, tested state, tries the wheel in a fresh environment, and tags here; publishes nothing.
release: setup
	$(BIN)/python -m tests.support.release

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .langgraph_api
