#!/usr/bin/env bash
# Set up, then lint, types, import rules and all tests incl. a real browser.
# Arguments go to pytest:  ./test.sh tests/core -k swap
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

./start.sh --setup-only --dev
export PATH="$PWD/.venv/bin:$PATH"

need_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome ||
    python -c 'import sys, pathlib; from playwright.sync_api import sync_playwright as s
with s() as p: sys.exit(not pathlib.Path(p.chromium.executable_path).exists())'
}
if ! need_browser >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      chromium fonts-noto-cjk libgl1 libglib2.0-0 >/dev/null
  else
    playwright install chromium
  fi
fi

ruff check .
ruff format --check .
mypy --strict core
lint-imports
exec pytest "$@"
