"""The Gradio page; the only package that imports Gradio."""
