"""Gradio's upload parts, made to hand over the uploaded file itself.

Gradio's own ``preprocess`` opens the picture with Pillow (and shows an English message when that
fails) and may convert it. ``core.imaging.stills`` is the one reader, so only the path is passed on.
The method is replaced on the object: a subclass would make Gradio write a ``.pyi`` file beside it.
"""

from __future__ import annotations

from typing import Any

import gradio as gr


def untouched_picture(part: gr.Image) -> gr.Image:
    """Make the value of ``part`` the path of the uploaded file."""
    usual = part.preprocess

    def preprocess(payload: Any) -> Any:
        # a snapshot from the camera comes as data, without a file
        return payload.path if payload is not None and payload.path else usual(payload)

    part.preprocess = preprocess  # type: ignore[method-assign]
    return part


def untouched_photos(part: gr.Gallery) -> gr.Gallery:
    """Make the value of ``part`` the list of paths of the uploaded files, in the order shown."""

    def preprocess(payload: Any) -> Any:
        found = payload.root if payload is not None else []
        return [item.image.path for item in found if getattr(item, "image", None) is not None]

    part.preprocess = preprocess  # type: ignore[method-assign]
    return part
