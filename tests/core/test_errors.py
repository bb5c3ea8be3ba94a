"""Every error has the exit code scripts rely on, and sentences survive being carried around."""

from __future__ import annotations

import pickle

import pytest

from core import errors
from core.sentences import ENGLISH, Sentence, say


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.OptionError, 2),
        (errors.UnreadableMedia, 2),
        (errors.NoFaceFound, 2),
        (errors.DownloadFailed, 3),
        (errors.WeightsMissing, 3),
        (errors.WeightsDamaged, 3),
        (errors.LicenceNotAccepted, 3),
        (errors.ProviderError, 4),
        (errors.MediaError, 5),
        (errors.ConsentMissing, 6),
        (errors.ContentRefused, 6),
        (errors.JobError, 7),
    ],
)
def test_exit_codes(kind, code):
    assert kind.exit_code == code


def test_being_called_off_is_not_an_error():
    assert not issubclass(errors.Cancelled, errors.AppError)


def test_a_sentence_is_text_and_remembers_its_key_through_pickle():
    sentence = say("photo.small", px=120)
    again = pickle.loads(pickle.dumps(sentence))
    assert "120 pixels" in again
    assert (again.key, again.values) == ("photo.small", {"px": 120})
    assert isinstance(again, Sentence)


@pytest.mark.parametrize("key", ENGLISH)
def test_no_sentence_shouts_or_uses_words_of_the_trade(key):
    text = ENGLISH[key]
    assert "!" not in text
    for word in ("inference", "embedding", "landmark", "onnx", "traceback", "oops"):
        assert word not in text.lower()
