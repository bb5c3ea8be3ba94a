"""What the card of a result says."""

from __future__ import annotations

from core.pipeline.report import ModelLine, ProviderLine, RenderReport
from core.safety.content import NSFW5
from core.types import ProviderReport
from facefusion_ui import result_card


def test_the_details_name_models_in_the_visitors_language():
    ran = ProviderReport(model=NSFW5.name, asked="cpu", used="cpu", nodes={"cpu": 9})
    report = RenderReport(
        frames_total=1,
        frames_changed=1,
        faces_found=1,
        providers=(ProviderLine.of(ran),),
        models=(ModelLine.of(NSFW5),),
    )
    assert result_card._where(report, "en")[0][0] == "Safety check"
    assert result_card._where(report, "zh")[0][0] == "安全检查"
    assert "安全检查" in result_card._details(report, "zh")
    assert "Safety check" not in result_card._details(report, "zh")
