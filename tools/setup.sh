# Sourced by ./demo and ./test, which share one virtual environment in .venv:
#   setup plot     installs phloat with the extra `plot` there, unless nothing changed since the last time

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
unset PYTHONPATH PYTHONHOME

say() { printf 'phloat: %s\n' "$*" >&2; }

stop() {
    say "$@"
    exit 1
}

version_of() { "$1" -E -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

# Sets python and version: $PYTHON, or else the first Python >= 3.11 that can make virtual environments. One that cannot
# is kept for make_venv, which says how to mend it.
find_python() {
    local name found seen=""
    python="" version=""
    set -- python3 python3.14 python3.13 python3.12 python3.11 python
    [ -z "${PYTHON:-}" ] || set -- "$PYTHON"
    for name in "$@"; do
        found=$(version_of "$name") || continue # not there, or a shim with nothing behind it
        seen="${seen:+$seen, }$name is $found"
        [ "${found%%.*}" -eq 3 ] && [ "${found#*.}" -ge 11 ] || continue
        if "$name" -I -c 'import ensurepip, venv' 2>/dev/null; then
            python=$name version=$found
            return
        fi
        [ -n "$python" ] || python=$name version=$found
    done
    [ -n "$python" ] || stop "Python >= 3.11 is needed; tried $*; found ${seen:-none};" \
        "install one, or name it: PYTHON=/path/to/python3.11 $0"
}

make_venv() {
    local complaint sudo="sudo "
    find_python
    say "making .venv with Python $version"
    rm -rf -- "$venv"
    if complaint=$("$python" -I -m venv "$venv" 2>&1) && "$venv/bin/python" -I -c 'import pip' 2>/dev/null; then
        return
    fi
    rm -rf -- "$venv"
    [ -z "$complaint" ] || printf '%s\n' "$complaint" | sed 's/^/    /' >&2
    [ "$(id -u)" -ne 0 ] || sudo=""
    say "Python $version ($python) cannot make a virtual environment with pip. On Debian and Ubuntu this mends it:"
    printf '\n    %sapt-get install -y python%s-venv\n\n' "$sudo" "$version" >&2
    stop "then run $0 again."
}

# Whole: it runs, has pip, is the version asked for, and was made in this very folder (a moved one still runs, but its
# scripts and its link to src/ point to where it was).
venv_is_whole() {
    "$venv/bin/python" -I -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || return
    [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON")" = "$(version_of "$venv/bin/python")" ] || return
    grep -qF -e "#!$venv/bin/" -e "'''exec' $venv/bin/" -e "'''exec' \"$venv/bin/" "$venv/bin/pip" 2>/dev/null
}

# What an installation depends on: Python's version, the extra, pyproject.toml.
fingerprint() {
    "$venv/bin/python" -I - "$1" "$root/pyproject.toml" <<'PYTHON_CODE'
import hashlib, pathlib, sys
print(sys.version.split()[0], sys.argv[1], hashlib.sha256(pathlib.Path(sys.argv[2]).read_bytes()).hexdigest())
PYTHON_CODE
}

setup() {
    local extra=$1 stamp="$venv/installed-$1" log="$venv/installed-$1.log" begin=$SECONDS
    if ! venv_is_whole; then
        [ ! -e "$venv" ] || say ".venv is broken, was moved, or is of another Python"
        make_venv
    fi
    if [ "$(cat "$stamp" 2>/dev/null)" = "$(fingerprint "$extra")" ]; then
        compile
        return
    fi
    printf 'phloat: installing phloat[%s] into .venv (some 600 MB the first time; a minute or more) ... ' "$extra" >&2
    if ! (cd "$root" && "$venv/bin/python" -I -m pip install --disable-pip-version-check -e ".[$extra]") >"$log" 2>&1; then
        printf 'failed\n' >&2
        tail -n 15 "$log" | sed 's/^/    /' >&2
        stop "pip could not install phloat[$extra]; the whole of what it said is in .venv/${log##*/}"
    fi
    fingerprint "$extra" >"$stamp"
    printf 'done in %d s\n' $((SECONDS - begin)) >&2
    compile
}

# The time step is compiled once and kept beside its source; where that is done this takes a second.
compile() {
    "$venv/bin/python" -I -m phloat.motion.compiled || stop "the time step could not be compiled; see above"
}

# Style and types of the code. One line each where all is well.
lint() {
    local folders=(src tests examples benchmarks tools)
    "$venv/bin/ruff" check "${folders[@]}" docs/*.py || stop "ruff has found the above; 'ruff check --fix' mends some of it"
    "$venv/bin/ruff" format --check --quiet "${folders[@]}" docs/*.py || stop "run 'ruff format' on the above"
    "$venv/bin/mypy" || stop "mypy has found the above"
}

# A browser for the tests of result pages: Debian's, where this may install it; without one those tests are skipped.
browser() {
    local name log="$venv/installed-chromium.log"
    [ -z "${CHROMIUM:-}" ] || return 0
    for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        ! command -v "$name" >/dev/null 2>&1 || return 0
    done
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        say "there is no Chromium, so the tests of result pages are skipped; install it (Debian: sudo apt-get install chromium)," \
            "or name one: CHROMIUM=/path/to/chrome $0"
        return 0
    fi
    printf 'phloat: installing chromium for the tests of result pages ... ' >&2
    if (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium fonts-dejavu-core) \
        >"$log" 2>&1 </dev/null; then
        printf 'done\n' >&2
    else
        printf 'failed\n' >&2
        say "the tests of result pages are skipped; what apt-get said is in .venv/${log##*/}"
    fi
}
