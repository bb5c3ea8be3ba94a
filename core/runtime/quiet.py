"""Switch off every library's telemetry, before any of them is loaded."""

from __future__ import annotations

import os

SWITCHES = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_XET": "1",
}
"""The last one keeps downloads on plain HTTPS, so that a mirror and our progress bar see them."""


def silence_telemetry() -> None:
    """Set the switches for this process and its children; call before other imports."""
    os.environ.update(SWITCHES)
