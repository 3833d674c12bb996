#!/usr/bin/env bash
# tools/coverage.sh          branch coverage of src/ by the default tests, package by package
#
# Compiled functions leave no trace, so some tests of the time step run a second time with compilation off.
set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"
setup test
"$venv/bin/python" -m pip install --quiet "pytest-cov>=6"

export MPLBACKEND=Agg OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 COVERAGE_FILE="$root/build/coverage"
mkdir -p "$root/build"
cd -- "$root"
counted=(-n auto --maxprocesses 8 -q --cov=phloat --cov-branch --cov-report=)
"$venv/bin/python" -m pytest "${counted[@]}" "$@"
steps=(tests/identities/test_few_steps.py tests/identities/test_step.py)
some="few_steps or any_floating_body or (oracle and (revolute-rigid-None or slide-beam-xy or universal-beam-None))"
NUMBA_DISABLE_JIT=1 "$venv/bin/python" -m pytest "${counted[@]}" --cov-append "${steps[@]}" -k "$some"
"$venv/bin/python" -m coverage json --quiet -o build/coverage.json
"$venv/bin/python" tools/coverage_table.py build/coverage.json
