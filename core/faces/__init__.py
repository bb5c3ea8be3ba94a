"""From pixels to faces."""
