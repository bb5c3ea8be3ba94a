"""One file per family of face swappers."""
