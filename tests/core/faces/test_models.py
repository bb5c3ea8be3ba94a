import hashlib

import pytest

from core.faces.analyse import MODELS
from core.imaging.topology import FILE

EMBEDDED = FILE.parent


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.name)
def test_weights_are_the_very_files_that_code_and_notice_name(spec):
    content = (EMBEDDED / spec.file).read_bytes()
    assert len(content) == spec.size_bytes
    assert hashlib.sha256(content).hexdigest() == spec.sha256
    notice = (EMBEDDED / "LICENCES.txt").read_text(encoding="utf-8")
    entry = notice.split(f"{spec.file}\n", 1)[1].split("\n\n", 1)[0]
    assert f"bytes  : {spec.size_bytes}\n" in entry
    assert f"sha256 : {spec.sha256}" in entry


def test_names_are_unique():
    assert len({spec.name for spec in MODELS}) == len(MODELS) == 7
