"""Consent, content check, provenance. None of it has an off switch."""
