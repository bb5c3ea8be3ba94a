"""Gradio's theme, pointed at the variables of ``static/style.css``, where the colours stand."""

from __future__ import annotations

import gradio as gr
from gradio.themes import sizes

_COLOURS = {
    "body_background_fill": "bg",
    "body_text_color": "text",
    "body_text_color_subdued": "muted",
    "background_fill_primary": "surface",
    "background_fill_secondary": "sunken",
    "block_background_fill": "surface",
    "block_border_color": "line",
    "block_info_text_color": "muted",
    "block_label_background_fill": "surface",
    "block_label_border_color": "line",
    "block_label_text_color": "muted",
    "block_title_text_color": "text",
    "border_color_accent": "accent",
    "border_color_accent_subdued": "line",
    "border_color_primary": "line",
    "color_accent": "accent",
    "color_accent_soft": "soft",
    "accordion_text_color": "text",
    "checkbox_background_color": "surface",
    "checkbox_background_color_focus": "surface",
    "checkbox_background_color_hover": "surface",
    "checkbox_background_color_selected": "accent",
    "checkbox_border_color": "muted",
    "checkbox_border_color_focus": "accent",
    "checkbox_border_color_hover": "accent",
    "checkbox_border_color_selected": "accent",
    "checkbox_label_text_color": "text",
    "error_background_fill": "bad-soft",
    "error_border_color": "bad",
    "error_text_color": "bad",
    "error_icon_color": "bad",
    "input_background_fill": "surface",
    "input_background_fill_focus": "surface",
    "input_border_color": "line",
    "input_border_color_focus": "accent",
    "input_placeholder_color": "muted",
    "link_text_color": "accent",
    "link_text_color_active": "accent",
    "link_text_color_hover": "hover",
    "link_text_color_visited": "accent",
    "loader_color": "accent",
    "slider_color": "accent",
    "panel_background_fill": "sunken",
    "panel_border_color": "line",
    "button_primary_background_fill": "accent",
    "button_primary_background_fill_hover": "hover",
    "button_primary_border_color": "accent",
    "button_primary_border_color_hover": "hover",
    "button_primary_text_color": "on-accent",
    "button_primary_text_color_hover": "on-accent",
    "button_secondary_background_fill": "surface",
    "button_secondary_background_fill_hover": "sunken",
    "button_secondary_border_color": "line",
    "button_secondary_border_color_hover": "muted",
    "button_secondary_text_color": "text",
    "button_secondary_text_color_hover": "text",
    "table_border_color": "line",
    "table_even_background_fill": "surface",
    "table_odd_background_fill": "surface",
    "table_text_color": "text",
    "code_background_fill": "sunken",
}
_SHAPES = {
    "block_radius": "12px",
    "container_radius": "12px",
    "input_radius": "12px",
    "block_label_radius": "10px 0 10px 0",
    "block_shadow": "none",
    "block_border_width": "1px",
    "block_padding": "10px 12px",
    "block_title_text_weight": "500",
    "block_title_text_size": "15px",
    "button_border_width": "1px",
    "button_large_radius": "12px",
    "button_medium_radius": "12px",
    "button_small_radius": "10px",
    "button_large_text_weight": "650",
    "button_transition": "background-color .12s, border-color .12s",
    "checkbox_border_radius": "5px",
    "checkbox_shadow": "none",
    "form_gap_width": "0px",
    "input_border_width": "1px",
    "layout_gap": "14px",
}


def make_theme() -> gr.themes.Base:
    """Light and dark alike: the variables themselves change under ``.dark``."""
    theme = gr.themes.Base(
        font=["sans-serif"],  # a quoted system-ui would name a font that does not exist
        font_mono=["monospace"],
        text_size=sizes.text_md,
        radius_size=sizes.radius_lg,
    )
    values = {name: f"var(--ff-{colour})" for name, colour in _COLOURS.items()} | _SHAPES
    dark = {
        f"{name}_dark": value
        for name, value in values.items()
        if f"{name}_dark" in vars(theme) or name in _COLOURS
    }
    known = vars(theme)
    return theme.set(**values, **{name: value for name, value in dark.items() if name in known})
