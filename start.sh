#!/usr/bin/env bash
# Set up what is needed, then open the page; with arguments run a command instead.
#   ./start.sh                              the page, on http://127.0.0.1:7860
#   ./start.sh swap --source A.jpg --target B.jpg --output OUT.png --consent
#   ./start.sh --setup-only                 only set up (also repairs)
#   --cuda12 | --directml | --cpu | --default   choose another build of ONNX Runtime
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

setup=() app=() only=0
for argument in "$@"; do
  case "$argument" in
    --setup-only) only=1 ;;
    --cuda12 | --directml | --cpu | --default | --dev) setup+=("$argument") ;;
    *) app+=("$argument") ;;
  esac
done

find_python() {
  local candidate
  for candidate in "$here/.venv/bin/python" python3.12 python3.11 python3.13 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  echo "No Python from 3.11 to 3.13 was found. Install one from python.org and start again." >&2
  return 1
}

python=$(find_python)
"$python" "$here/scripts/prepare.py" ${setup[@]+"${setup[@]}"} >&2
if [ "$only" = 1 ]; then exit 0; fi
exec "$here/.venv/bin/python" "$here/app.py" ${app[@]+"${app[@]}"}
