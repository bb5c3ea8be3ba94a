"""One file per processor, nothing else; ``core.registry`` finds them by looking here."""
