"""One file per tab; each offers ``build(services, ...)``."""
