"""The error tree. What people see is ``message`` (what is wrong) and ``hint`` (what to do next).

::

    AppError
    ├── InputError       2   OptionError, UnreadableMedia, NoFaceFound
    ├── ModelError       3   DownloadFailed, WeightsMissing, WeightsDamaged, LicenceNotAccepted,
    │                        UnusableOutput
    ├── ProviderError    4   nothing on the list could run
    ├── MediaError       5   reading or writing failed half way
    ├── Refused          6   ConsentMissing, ContentRefused
    └── JobError         7   no such job; move not allowed
    Cancelled                outside the tree: unwinds the work, recorded as a state
"""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """Something people can understand and act on.

    Both texts may be a :class:`core.sentences.Sentence`, which the page can translate.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(AppError):
    """The request cannot work as given."""

    exit_code = 2


class OptionError(InputError):
    """An option is unknown or out of its limits."""


class UnreadableMedia(InputError):
    """The file is not a picture or clip that can be read, or is over a limit."""


class NoFaceFound(InputError):
    """There is no usable face where one is needed."""


class ModelError(AppError):
    """Something about a model's weights."""

    exit_code = 3


class DownloadFailed(ModelError):
    """The weights could not be fetched."""


class WeightsMissing(ModelError):
    """The weights are not on this computer and nobody asked to fetch them."""


class WeightsDamaged(ModelError):
    """The weights are not what they should be."""


class LicenceNotAccepted(ModelError):
    """The maker's licence has to be accepted before the download."""


class UnusableOutput(ModelError):
    """A model gave NaN, a black or a constant picture, on every provider tried."""


class ProviderError(AppError):
    """No execution provider on the list could run the model."""

    exit_code = 4


class MediaError(AppError):
    """Reading or writing a file failed half way."""

    exit_code = 5


class Refused(AppError):
    """We do not do this."""

    exit_code = 6


class ConsentMissing(Refused):
    """Nobody said that everyone shown agreed."""


class ContentRefused(Refused):
    """The content check refused a picture, or could not run."""


class JobError(AppError):
    """No such job, or the move is not allowed."""

    exit_code = 7


class Cancelled(Exception):
    """The work was called off. Not an error: recorded as a state."""
