# Each target makes the virtual environment it needs; only Python 3.11 or later must be there.
PYTHON ?= python3
BIN := .venv/bin
# With it every process that tests start would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-app test-cuda test-gpu test-gpu-emulated lint notebooks docs experiments experiments-full clean

# Steps 1 to 3 of the tour in the README; a test compares the commands.
demo: .venv/report.stamp
	@mkdir -p demo
	@rm -f demo/map.png demo/protected.csv demo/report.html
	$(BIN)/python -m benchmarks.demo_data demo/companies.csv
	cd demo && ../$(BIN)/microagg compare companies.csv -k 3,5,8 --methods mdav,vmdav,centroid,path \
		--by region,size --weight weight --drop id --missing pattern --plot map.png
	cd demo && ../$(BIN)/microagg protect companies.csv -k 5 --method path \
		--by region,size --weight weight --average-weight --drop id --missing pattern \
		-o protected.csv --report report.html
	cd demo && ../$(BIN)/microagg check protected.csv -k 5
	@echo "Open demo/report.html in a browser; demo/map.png shows what each method loses and risks"

# COVERAGE=1 adds the share of lines and branches that ran; pyproject.toml says of what.
test: .venv/test.stamp
	$(BIN)/python -m pytest -n 2 $(if $(COVERAGE),--cov --cov-report=term)

# The running app, some minutes; in Chromium, skipped with a message where there is none.
test-app: .venv/test.stamp
	$(BIN)/python -m pytest -m app tests/app

# The CUDA engine without a GPU: in Numba's simulator, then the compiled kernels by ptxrun.
PTXRUN_HOME ?= ../shared/ptxrun
test-cuda: .venv/test-cuda.stamp
	NUMBA_ENABLE_CUDASIM=1 $(BIN)/python -m pytest -n 2 tests/engines/cuda
	@if [ -d $(PTXRUN_HOME) ]; then \
		echo "The same as compiled code, by $(PTXRUN_HOME)"; \
		PTXRUN=1 PYTHONPATH=$(PTXRUN_HOME) $(BIN)/python -m pytest -n 2 -p ptxrun_pytest tests/engines/cuda; \
	else echo "The compiled code was not executed: there is no $(PTXRUN_HOME)"; fi

# On a machine with an NVIDIA GPU; CUDA=12 for CUDA 12.
CUDA ?= 13
test-gpu: .venv/test.stamp .venv/cuda$(CUDA).stamp
	$(BIN)/python -m pytest -m gpu tests/engines/gpu

# The same with few records on an emulated driver, with a stand-in for CuPy; about 25 minutes on two
# cores, or in parts: GPU_TESTS=tests/engines/gpu/test_gpu_api.py. Then once more what needs
# synchronisation, with work that is done as late as CUDA allows.
CUDAEMU_HOME ?= ../shared/cudaemu
GPU_TESTS ?= tests/engines/gpu
LATE_TESTS ?= tests/engines/gpu/test_gpu_devices.py
EMULATED = CUDAEMU_DEVICES=2 CUDAEMU_SMS=2 $(CUDAEMU_HOME)/cudaemu --standin \
	$(BIN)/python -m pytest -m gpu -n 2 --dist loadgroup -p cudaemu_pytest
test-gpu-emulated: .venv/test-cuda.stamp
	@if [ -d $(CUDAEMU_HOME) ]; then \
		$(EMULATED) $(GPU_TESTS) && CUDAEMU_LAZY=1 $(EMULATED) -k stream $(LATE_TESTS); \
	else echo "The tests for a GPU were not run: there is no $(CUDAEMU_HOME)"; fi

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy microagg_gpu benchmarks
	$(BIN)/python -m pytest -q -m slow tests/test_typing.py

# Those of the 2005 paper: small in some minutes, or in its sizes, added to benchmarks/results.
experiments: .venv/report.stamp
	$(BIN)/python -m benchmarks.experiments all --small --output experiments

experiments-full: .venv/report.stamp
	$(BIN)/python -m benchmarks.experiments all

# Each in a fresh kernel; OUT=folder keeps executed copies.
notebooks: .venv/notebooks.stamp
	$(BIN)/python -m notebooks.run $(if $(OUT),--write $(OUT))

docs: .venv/docs.stamp
	$(BIN)/sphinx-build -q -W --keep-going -b html -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html in a browser"

clean:
	rm -rf .venv demo experiments build dist docs/generated docs/notebooks docs/results *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The part before .stamp is the extra of pyproject.toml that is installed.
.venv/%.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
