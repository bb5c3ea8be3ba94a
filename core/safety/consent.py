"""Consent: asked for every request, at submit and again at render."""

from __future__ import annotations

from core.errors import ConsentMissing
from core.request import RenderRequest
from core.sentences import say


def require_consent(request: RenderRequest) -> None:
    """ConsentMissing unless the request says that everyone shown agreed."""
    if not request.consent:
        raise ConsentMissing(say("refused.consent"), hint=say("refused.consent.hint"))
