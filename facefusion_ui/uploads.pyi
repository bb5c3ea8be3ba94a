"""Gradio's upload parts, handing over the uploaded file itself.

Gradio's own ``preprocess`` opens the picture with Pillow (and shows an English message when that
fails) and may convert it. ``core.imaging.stills`` is the one reader, so only the path is passed on.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from gradio.events import Dependency

class PictureUpload(gr.Image):
    """``gr.Image`` whose value is the path of the uploaded file, untouched."""

    is_template = True

    def preprocess(self, payload: Any) -> Any:
        """The path, or what Gradio makes of a picture that came without a file (a snapshot)."""
        if payload is None or payload.path is None:
            return super().preprocess(payload)
        return payload.path
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

class PhotoGallery(gr.Gallery):
    """``gr.Gallery`` whose value is the list of paths of the uploaded files, untouched."""

    is_template = True

    def preprocess(self, payload: Any) -> Any:
        """The paths in the order shown."""
        found = payload.root if payload is not None else []
        return [item.image.path for item in found if getattr(item, "image", None) is not None]
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
