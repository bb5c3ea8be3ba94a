"""Everything that knows about faces, pictures and models. Never imports Gradio."""
