# Every target works from a clean clone: it makes .venv and installs what it needs, once.
# PYTHON chooses the interpreter of .venv, JOBS the processes of a test run.

PYTHON ?= python3
JOBS ?= 2
CXX ?= g++

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check -qq
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
CORE := src/separable/_core
SANITIZED := build/sanitize-site
LOWEST := .venv-lowest
SERVERS := .venv-serving
WHEEL := build/wheel
KERNEL_TESTS = $(shell grep -rl --include='*.py' 'mark[.]kernel' tests)

# Each process would compile the package and rewrite the assertions of the tests again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo dev test test-fast wheel test-all test-lowest test-sklearn smoke-sklearn smoke-spark lint format docs house instructions bench bench-everyday bench-curves bench-main-job bench-out-of-core bench-serve bench-spark pictures sanitize system stub clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/installed ## train, test and explain a first model on the penguins
	@$(BIN)/separable demo

dev: $(VENV)/installed ## build the core for the best CPU level of this machine

# A process of the tests has a core, not several: threads of BLAS would compete with the other ones.
test test-fast: export OPENBLAS_NUM_THREADS = 1

test: $(VENV)/installed-all $(VENV)/extra-test ## the tests but the long ones, some cases of each; those of kernels under every CPU level
	@$(PY) -m pytest -q -n $(JOBS) -m "not long" --cases some
	@$(call under_lower_levels,-m "kernel and not long" --cases some,$(KERNEL_TESTS))

test-fast: export HYPOTHESIS_PROFILE = fast
test-fast: export SEPARABLE_DATA =
test-fast: $(VENV)/extra-test ## one case of each test below half a second, without commands, pages, pictures and lectures
	@$(PY) -m pytest -q -n $(JOBS) -m "not long and not slow" --cases first tests \
	  $(addprefix --ignore=tests/,cli export lectures plot report test_docs.py test_readme.py)

test-all: export HYPOTHESIS_PROFILE = long
test-all: $(VENV)/installed-all $(VENV)/extra-test ## everything, with long property and fuzz runs
	@$(PY) -m pytest -q -n $(JOBS) --timeout 1800
	@$(call under_lower_levels,-m native --timeout 1800,tests)
	@$(PY) -m tests.sklearn.contract --jobs $(JOBS)

test-lowest: $(VENV)/extra-test ## the tests with the lowest stated version of every dependency
	@$(install_lowest)
	@$(LOWEST)/bin/python -m pytest -q -n $(JOBS) -m "not long" --cases some \
	  -W default::DeprecationWarning tests # of old versions with what they use in new ones

test-sklearn: $(VENV)/extra-test ## scikit-learn's own tests with the classes of separable.sklearn
	@$(PY) -m tests.sklearn.contract --jobs $(JOBS)

smoke-sklearn: $(VENV)/extra-test ## five modules of test-sklearn, within a minute
	@$(PY) -m tests.sklearn.contract --smoke --jobs $(JOBS)

smoke-spark: $(VENV)/extra-test $(VENV)/extra-cluster ## learning on a local Spark, within 90 seconds
	@$(PY) -m pytest -q -m "not long" tests/spark

wheel: $(VENV)/installed-all ## build a wheel, install it elsewhere and run the demo with it
	@rm -rf $(WHEEL)
	@$(PIP) wheel --no-build-isolation --no-deps --wheel-dir $(WHEEL) .
	@$(PYTHON) -m venv $(WHEEL)/venv
	@$(WHEEL)/venv/bin/python -m pip --disable-pip-version-check -qq install $(WHEEL)/*.whl
	@cd $(WHEEL) && venv/bin/separable demo > demo.txt 2>&1 || { cat demo.txt; exit 1; }
	@ls -sh $(WHEEL)/*.whl

lint: $(VENV)/extra-lint $(VENV)/extra-test ## style, types, layers
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > $(VENV)/lint-imports.txt || { cat $(VENV)/lint-imports.txt; exit 1; }
	@$(BIN)/clang-format --dry-run -Werror $(CPP)

format: $(VENV)/extra-lint ## fix what lint can fix by itself
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/extra-docs $(VENV)/extra-report ## build the documentation site in build/site and check its links
	@$(BIN)/zensical build --clean --strict > $(VENV)/docs.txt 2>&1 || { cat $(VENV)/docs.txt; exit 1; }
	@rm -f build/site/lab.html && $(BIN)/separable lab -o build/site/lab.html > /dev/null
	@echo "docs: build/site/index.html"

house: ## print the size and shape of the source tree, and the words it uses
	@$(PYTHON) benchmarks/house.py

instructions: $(VENV)/installed-all ## count the instructions of six kernels under callgrind; fail if one has grown
	@$(BIN)/cmake --build "$$(ls -td build/cp*/ | head -1)" --target instructions > $(VENV)/instructions.txt || { cat $(VENV)/instructions.txt; exit 1; }
	@$(PY) benchmarks/instructions.py "$$(ls -td build/cp*/ | head -1)instructions" $(UPDATE)

bench: $(VENV)/extra-bench ## measure against other libraries
	@$(PY) -m benchmarks

bench-everyday: $(VENV)/extra-test ## measure fits of small and middle tables against scikit-learn
	@$(PY) -m benchmarks everyday everyday-raw everyday-strangers everyday-equal everyday-predict

bench-curves: $(VENV)/extra-test ## measure curves against boosted trees on ten tables
	@$(PY) -m benchmarks curves

bench-main-job: $(VENV)/extra-test ## measure `separable train` on nine files
	@$(PY) -m benchmarks main-job

bench-out-of-core: $(VENV)/extra-test ## measure training out of core: time beside one pass of reading, anonymous memory
	@$(PY) -m benchmarks.out_of_core

bench-serve: $(VENV)/extra-test $(SERVERS)/installed ## measure `separable serve` beside the servers of MLflow and FastAPI
	@$(PY) -m benchmarks serve

bench-spark: $(VENV)/extra-test $(VENV)/extra-cluster ## measure a local cluster against Spark MLlib
	@$(PY) -m benchmarks spark spark-scale

pictures: $(VENV)/extra-plot $(VENV)/extra-test ## draw the pictures of the documentation again
	@$(PY) docs/pictures/make.py
	@$(PY) docs/pictures/walk.py
	@$(PY) docs/pictures/report.py
	@$(PY) docs/pictures/architecture.py

sanitize: $(VENV)/installed-all $(VENV)/extra-test ## native tests under the sanitizers, kernels under every CPU level and on an emulated old CPU
	@$(build_sanitized)
	@$(run_sanitized)
	@$(run_emulated)

system: ## Debian packages that tests can use (as root)
	@for pair in qemu-x86_64:qemu-user node:nodejs chromium:chromium java:openjdk-17-jre-headless valgrind:valgrind; do \
	  tool=$${pair%%:*}; package=$${pair##*:}; \
	  if command -v $$tool > /dev/null; then echo "system: $$package is there"; \
	  elif ! command -v apt-get > /dev/null; then echo "system: no apt-get, $$package is skipped"; \
	  elif [ "$$(id -u)" != 0 ]; then echo "system: not root, $$package is skipped"; \
	  else [ -n "$$updated" ] || apt-get update -qq > /dev/null 2>&1; updated=yes; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$package \
	      > /dev/null 2>&1 && echo "system: installed $$package" \
	      || echo "system: apt-get could not install $$package, which is skipped"; fi; \
	done

stub: $(VENV)/installed ## write the type stubs of the compiled core again
	@$(PY) -m nanobind.stubgen -q -o $(CORE)/portable.pyi -m separable._core.portable
	@$(PY) -m nanobind.stubgen -q -o $(CORE)/_native.pyi \
	  -m separable._core.$$($(PY) -c 'from separable._core import LEVEL; print(LEVEL)')

clean: ## remove everything that make made
	@rm -rf build dist $(VENV) $(LOWEST) $(SERVERS) .mypy_cache .pytest_cache .ruff_cache .hypothesis \
	  .import_linter_cache .grimp_cache .cache
	@find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2> /dev/null || true

# ------------------------------------------------------------------ installing

# The requirements of the package (`run`), of one of pyproject.toml's extras or of a dependency group,
# one a line.
requirements = $(PY) -c 'import pathlib, tomllib; \
  settings = tomllib.loads(pathlib.Path("pyproject.toml").read_text()); \
  project, groups = settings["project"], settings["dependency-groups"]; \
  known = {"run": project["dependencies"], **project["optional-dependencies"], **groups}; \
  print(*known["$(1)"], sep="\n")'

define install_extra
$(call requirements,$(1)) > $(VENV)/requirements-$(1).txt && \
$(PIP) install --no-compile -r $(VENV)/requirements-$(1).txt && \
touch $(VENV)/extra-$(1)
endef

# The package, compiled for these CPU levels while its requirements are fetched.
define install_levels
$(call install_extra,run) & \
$(PIP) install --no-build-isolation --no-deps \
  --config-settings=cmake.define.SEPARABLE_LEVELS=$(1) -e .; \
built=$$?; wait $$! && exit $$built
endef

# The lowest versions that pyproject.toml allows, of what the package and its tests need, one a line.
lowest = $(PY) -c 'import pathlib, tomllib; \
  settings = tomllib.loads(pathlib.Path("pyproject.toml").read_text()); \
  needed = settings["project"]["dependencies"] + settings["dependency-groups"]["test"]; \
  print(*(each.replace(">=", "==") for each in needed), sep="\n")'

# The peers of the server in an environment of their own: MLflow asks for versions of many packages.
$(SERVERS)/installed:
	@$(PYTHON) -m venv $(SERVERS)
	@$(SERVERS)/bin/python -m pip --disable-pip-version-check -qq install mlflow fastapi uvicorn httptools uvloop
	@touch $@

# The wheel comes from the build folder of the editable install, so nothing is compiled again.
define install_lowest
$(PYTHON) -m venv --clear $(LOWEST) && \
$(lowest) > $(LOWEST)/requirements.txt && \
$(LOWEST)/bin/python -m pip --disable-pip-version-check -qq install -r $(LOWEST)/requirements.txt && \
$(PIP) wheel --no-build-isolation --no-deps --wheel-dir $(LOWEST) \
  --config-settings=cmake.define.SEPARABLE_LEVELS=best . && \
$(LOWEST)/bin/python -m pip --disable-pip-version-check -qq install --no-deps $(LOWEST)/*.whl
endef

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -m venv $(VENV)

$(VENV)/extra-build: pyproject.toml | $(VENV)/pyvenv.cfg
	@$(call install_extra,build)

$(VENV)/extra-%: pyproject.toml | $(VENV)/installed
	@$(call install_extra,$*)

# Both have one build folder, which keeps the objects of every level, so nothing is compiled twice.
$(VENV)/installed: CMakeLists.txt $(CPP) $(VENV)/extra-build
	@rm -f $@-all
	@$(call install_levels,best)
	@touch $@

$(VENV)/installed-all: CMakeLists.txt $(CPP) $(VENV)/extra-build
	@$(call install_levels,all)
	@touch $(VENV)/installed $@

# ------------------------------------------------------------------ CPU levels and sanitizers

levels = $(PY) -c 'from separable._core import LEVELS; print(*LEVELS)'
lower_levels = $(PY) -c 'from separable._core import LEVELS; print(*LEVELS[:-1])'

# The best level has had its turn when this runs. $(1) are options of pytest, $(2) tests.
define under_lower_levels
for level in $$($(lower_levels)); do \
  echo "native tests under SEPARABLE_CPU=$$level"; \
  SEPARABLE_CPU=$$level $(PY) -m pytest -q -n $(JOBS) $(1) $(2) || exit 1; \
done
endef

define build_sanitized
$(PIP) install --no-build-isolation --no-deps --upgrade --target $(SANITIZED) \
  --config-settings=cmake.define.SEPARABLE_SANITIZE=ON --config-settings=install.strip=false \
  "--config-settings=cmake.define.SEPARABLE_LEVELS=$$($(levels) | tr ' ' ';')" \
  --config-settings=cmake.build-type=RelWithDebInfo --config-settings=build-dir=build/sanitize .
endef

# The interpreter below .venv sees, with -S, neither the editable install nor packages of its own,
# only what PYTHONPATH says.
# libstdc++ is loaded early so that the sanitizer finds how C++ throws.
define run_sanitized
python=$$($(PY) -c 'import sys; print(sys._base_executable)'); \
packages=$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
asan=$$($(CXX) -print-file-name=libasan.so); \
if [ ! -e "$$asan" ]; then echo "make sanitize needs g++ with libasan; $(CXX) has none"; exit 1; fi; \
sanitized() { \
  LD_PRELOAD="$$asan $$($(CXX) -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
  PYTHONPATH="$$PWD/$(SANITIZED):$$packages" \
    $$python -S -m pytest -q -n $(JOBS) -p no:cacheprovider --capture=sys --timeout 900 "$$@"; \
}; \
sanitized -m "native and not long" tests || exit 1; \
for level in $$($(lower_levels)); do \
  echo "kernels under SEPARABLE_CPU=$$level"; \
  SEPARABLE_CPU=$$level sanitized -m "kernel and not long" $(KERNEL_TESTS) || exit 1; \
done
endef

# Programs that a test starts run on the true CPU, so only tests in the process itself count here.
define run_emulated
if ! command -v qemu-x86_64 > /dev/null; then \
  echo "no qemu-x86_64: the emulated old CPU is skipped (make system installs it)"; \
else \
  echo "native tests on an emulated Nehalem, which has neither AVX2 nor AVX-512"; \
  qemu-x86_64 -cpu Nehalem $(PY) -m pytest -q -p no:cacheprovider --timeout 1800 \
    -m "native and not long" tests/core tests/online/test_perceptron.py; \
fi
endef
