"""Arithmetic on arrays; no models. Only ``stills`` touches files."""
