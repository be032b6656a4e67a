# Everything starts from a bare clone with python3 (3.11+) and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
ROOMS  := agent tools prompts evals

.PHONY: setup demo test test-extras lint format types studio clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tableturn needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup
	@$(BIN)/python -m tableturn.agent.demo

test: lint types
	$(BIN)/python -m pytest -n 2

# Ray, LangChain's own agent, a browser's driver and torch are large, and most work needs none of them.
test-extras: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ray,baselines,browser,sft]'
	$(BIN)/python -m pytest -m extra

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Type checkers don't follow the package mapping of an editable install: give them a folder that looks installed.
types: setup
	@mkdir -p build/types/tableturn
	@for room in $(ROOMS); do ln -sfn ../../../$$room build/types/tableturn/$$room; done
	$(BIN)/pyright --pythonpath $(BIN)/python

studio: setup
	$(BIN)/langgraph dev --no-browser

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache .hypothesis .langgraph_api
