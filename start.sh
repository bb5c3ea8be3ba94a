#!/usr/bin/env bash
# Set up what is needed, then open the page; with arguments run a command instead.
#   ./start.sh                                  the page, on http://127.0.0.1:7860
#   ./start.sh swap --source A.jpg --target B.jpg --output OUT.png --consent
#   ./start.sh --setup-only                     only set up (also repairs)
#   --cpu | --cuda12 | --directml | --auto      choose another build of ONNX Runtime, once
set -euo pipefail
unset PYTHONHOME PYTHONPATH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for python in "$here/.venv/bin/python" python3.12 python3.11 python3.13 python3 python; do
  if "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
    2>/dev/null; then
    exec "$python" "$here/scripts/start.py" "$@"
  fi
done
echo "No Python from 3.11 to 3.13 was found. Install one from python.org and start again." >&2
exit 1
