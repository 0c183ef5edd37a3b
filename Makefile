# Each target makes the virtual environment it needs; only Python 3.11 or later must be there.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean

demo: .venv/report.stamp
	@mkdir -p demo
	$(BIN)/python -m benchmarks.demo_data demo/companies.csv
	$(BIN)/microagg protect demo/companies.csv -k 5 --method mdav --columns turnover,staff \
		-o demo/protected.csv --plot demo/groups.png --force
	$(BIN)/microagg compare demo/companies.csv -k 5 --columns turnover,staff \
		--methods mdav,vmdav,mst,kward,centroid,diameter,projection
	@echo "The picture of the groups is demo/groups.png"

test: .venv/test.stamp
	$(BIN)/python -m pytest -n 2

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy microagg_gpu kernels benchmarks

clean:
	rm -rf .venv demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The part before .stamp is the extra of pyproject.toml that is installed.
.venv/%.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
