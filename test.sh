#!/usr/bin/env bash
# Set up, then lint, types, import rules and all tests incl. a real browser.
# Arguments go to pytest:  ./test.sh tests/core -k swap
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
has_libraries() { ! command -v ldconfig || ldconfig -p | grep -q 'libGL\.so\.1'; }

if ! { has_browser && has_libraries; } >/dev/null 2>&1 &&
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    chromium fonts-noto-cjk libgl1 libglib2.0-0 >/dev/null
fi

./start.sh --setup-only --dev
python=.venv/bin/python
has_browser >/dev/null || $python -m playwright install chromium # quick when it is there

$python -m ruff check .
$python -m ruff format --check .
$python -m mypy --strict core scripts/start.py
$python -c 'from importlinter.cli import lint_imports_command as run; run()'
# One file stays on one worker: the page and the engine are started once a file.
exec $python -m pytest -n 2 --dist loadfile "$@"
