"""Consent is asked for every request."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import ConsentMissing
from core.request import RenderRequest
from core.safety.consent import require_consent


def test_consent_is_asked_and_has_to_be_said():
    request = RenderRequest(target=Path("t.png"), steps=())
    with pytest.raises(ConsentMissing, match="consent line") as caught:
        require_consent(request)
    assert caught.value.hint
    assert caught.value.exit_code == 6
    require_consent(request.model_copy(update={"consent": True}))
