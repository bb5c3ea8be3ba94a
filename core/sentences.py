"""The sentences that core says to people, in English, each once.

Notices and errors are made with :func:`say`. A :class:`Sentence` is an ordinary ``str`` that also
remembers its key and the values put in, so the page can say the same thing in another language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENGLISH: dict[str, str] = {
    # pictures that are given
    "noface.pic": (
        "No face found in this picture. We also tried it turned, larger and smaller. "
        "Use one in which eyes, nose and mouth can be seen."
    ),
    "noface.photo": "No face found in photo {n}. It will not be used.",
    "noface.photos": "No face found in the photo of the new face.",
    "noface.number": "There is no face {n} in this picture; {count} were found.",
    "noface.photos.hint": "Use a photo in which eyes, nose and mouth can be seen.",
    "need.photo": "A photo of the new face is still needed.",
    "photo.many": (
        "Photo {n} shows {k} people; the largest face is used. Crop the photo to choose."
    ),
    "photo.profile": ("This face is seen from the side. A photo from the front looks much better."),
    "photo.small": (
        "The face in this photo is small ({px} pixels). "
        "The result may look soft; a larger photo helps."
    ),
    "photo.covered": "Something covers part of this face. It may show in the result.",
    "photo.differ": "These photos may show different people.",
    "err.missing": "{name} is not there.",
    "err.same_file": "{name} is one of the originals; they are never written over.",
    "err.same_file.hint": "Choose another name for the result.",
    "err.format": "{name} has an ending that cannot be written.",
    "err.format.hint": "Use .png, .jpg, .webp, .avif or .tiff.",
    # what was done
    "none.noface": "Nothing changed: no face was found in {b} frames.",
    "none.image": "Nothing changed, so no file was written.",
    "none.model": (
        "Nothing changed: the model gave an unusable picture, so the original was kept."
    ),
    "note.face_kept": (
        "A face was left as it was: it is turned too far, or too much of it is hidden."
    ),
    "note.kept": "{n} frames were left as they were: the head was turned too far.",
    # refusals
    "refused.pic": "This picture cannot be used.",
    "refused.photo": "This photo cannot be used.",
    "refused.photo.n": "Photo {n} cannot be used.",
    "refused.why": (
        "The safety check thinks it shows nudity. Swaps on such pictures are not offered. "
        "If this is a mistake, try another crop."
    ),
    "refused.check": ("The safety check is not working, so nothing was made. Try again later."),
    "refused.consent": "Please tick the consent line first.",
    # files
    "err.unreadable": "{name} cannot be read: {reason}.",
    "err.unreadable.hint": "Save it again or choose another file.",
    "err.no_picture": "it is not a picture we know",
    "err.damaged": "it is damaged",
    "err.no_memory": "there is not enough memory for it",
    "err.missing.hint": "Choose the file again.",
    "err.cut": "{name} ends too early; perhaps the copy was interrupted.",
    "err.cut.hint": "Copy it again.",
    "err.big": "{name} is too large ({size}). The limit here is {max}.",
    "err.big.hint": "Make it smaller and try again.",
    "err.pixels": "{name} is too large ({size} megapixels).",
    "err.pixels.hint": "The limit here is {max} megapixels. Make it smaller and try again.",
    "err.tiny": "{name} is too small ({width} × {height} pixels).",
    "err.tiny.hint": "Choose a picture of at least 16 pixels a side.",
    "err.write": "{name} could not be written: {reason}.",
    "err.write.hint": "Choose another folder, or make room on the disk.",
    "note.animated": "This is an animation of {n} pictures; the first one was used.",
    "note.location": "The place where the photo was taken is not kept in the result.",
    "note.alpha": "This kind of file cannot be transparent; transparent parts are white.",
    "note.depth": "The photo has 16 bits per colour; this result has 8.",
    "note.cmyk": "The photo is in printing colours (CMYK); the result is in screen colours.",
    "err.side": "{name} cannot be written: this kind of file holds {max} pixels a side at most.",
    "err.side.hint": "Choose .png or .tiff.",
    # content credentials
    "refused.consent.hint": "Everyone shown has to agree.",
    "err.mark": "The result could not be marked as AI-edited, so it was not kept.",
    "err.mark.hint": "Check that the data folder can be written to, then try again.",
    "mark.help": (
        "Other programs may show “unknown signer”: the signature is made on this computer."
    ),
    "verify.ours": "Made on this computer and unchanged since.",
    "verify.other": "Unchanged since it was signed by {signer}, whom this computer does not know.",
    "verify.broken": "It was changed after it was signed, so its credentials no longer hold.",
    "verify.none": "It carries no content credentials.",
    "verify.none_xmp": (
        "It says that it was edited with AI, but its signed credentials are missing; "
        "another program has probably saved it again."
    ),
    "verify.expired": (
        "Unchanged since it was signed by {signer}, but that certificate has run out, "
        "so it no longer proves who signed."
    ),
    "verify.ai": "It was edited with AI.",
    "verify.ai_made": "It was made by AI.",
    "verify.models": "Models that took part: {models}.",
    # graphics card and processor
    "gpu.none": "No graphics card found.",
    "gpu.driver": "No NVIDIA driver found.",
    "gpu.driver.fix": "Install the NVIDIA driver, restart the computer, then press “Check again”.",
    "gpu.driver_old": "The NVIDIA driver is too old for the installed version.",
    "gpu.driver_old.fix": "Update the driver, or run the command below once.",
    "gpu.libs": "The CUDA libraries are missing ({library}).",
    "gpu.libs_any": "The CUDA libraries are missing.",
    "gpu.libs.fix": "Run the command below once.",
    "gpu.major": "CUDA is installed in another version than the one needed ({major}).",
    "gpu.old": "This card is too old for the installed version.",
    "gpu.old.fix": "Run the command below once; it installs the version for older cards.",
    "gpu.over": "Another program part replaced the graphics-card version.",
    "gpu.over.fix": "Run the command below once.",
    "gpu.two": "Two versions of the part that runs the models are installed ({builds}).",
    "gpu.build": "This installation has no support for {provider}.",
    "gpu.build.fix": "Run the command below once; it looks for your card and installs what fits.",
    "gpu.mem": "Not enough graphics memory.",
    "gpu.mem.fix": "Close other programs that use the graphics card.",
    "gpu.failed": "The graphics card could not be used ({words}).",
    "gpu.failed.fix": "Update the driver of the graphics card, then press “Check again”.",
    "gpu.output": "{provider} gave an unusable result.",
    "gpu.none_nvidia": "No NVIDIA graphics card found.",
    "gpu.other.fix": "With an AMD or Intel graphics card, run the command below once.",
    "gpu.hidden": "The NVIDIA driver shows no graphics card to this program.",
    "gpu.hidden.fix": "If it runs in a container, start that with access to the graphics card.",
    "gpu.system": "{provider} exists on {systems} only.",
    "gpu.choose_auto": "Choose “auto”, which takes the best that works here.",
    "gpu.model": "{provider} cannot run this model.",
    "gpu.tensorrt": "NVIDIA TensorRT is not installed ({library}).",
    "gpu.tensorrt.fix": "Choose “cuda”, which needs nothing more, or install TensorRT.",
    # facts about the computer
    "fact.cores": "{n} cores",
    "fact.memory": "{total} GB, {free} GB free",
    "fact.card": "{name}, {total} MB, {free} MB free, driver {driver}",
    "err.provider": "{model} could not run anywhere on this computer.",
    "err.provider.hint": "Look at System for the reason.",
    "err.run": "{model} stopped working.",
    "err.output": "{model} gave an unusable result.",
    "err.model_memory": "There is not enough memory for {model}.",
    "err.model_memory.hint": "Close other programs, or use “Free memory” in System.",
    "err.runtime": "The part that runs the models is damaged.",
    "err.runtime.hint": "Run this once: {command}",
    # models
    "err.no_model": "There is no model called {name}.",
    "err.weights": "The file of {model} is damaged.",
    "err.weights.hint": "Download it again in Models.",
    "err.weights_missing": "{model} is not on this computer.",
    "err.weights_missing.hint": "Download it in Models, or run: models fetch {name}",
    "err.licence": "{model} comes with a licence of its maker: {licence}.",
    "err.licence.hint": "Read and accept it in Models, or add --accept-licence.",
    "offline.model": "{model} is not on this computer, and offline mode is on.",
    "offline.model.hint": "Connect once, or add the file in Models.",
    "err.read_only": "Nothing can be written to the folder {folder}.",
    "err.read_only.hint": "Choose another folder for the models with FACEFUSION_MODEL_FOLDER.",
    "err.disk": "Not enough space: {need} needed, {free} free.",
    "err.disk.hint": "Clean up in System, or choose another folder.",
    "err.download": "{model} could not be downloaded.",
    "err.download.hint": (
        "Check the internet connection and try again; it goes on where it stopped."
    ),
    "err.hub_gone": "The maker no longer offers {model} at its place.",
    "err.hub_gone.hint": "Update the program, or add the file in Models.",
    "err.hub_busy": "The place where {model} is kept is busy.",
    "err.hub_busy.hint": "Try again in a few minutes; it goes on where it stopped.",
    "err.hub_gated": "The maker gives {model} only to people who sign in.",
    "err.hub_gated.hint": "Download it in a browser, then add the file in Models.",
    "err.hub_page": "Instead of {model}, a web page came back.",
    "err.hub_page.hint": "Sign in to this network in a browser, or use another network.",
    "err.adopt": "{name} is not the right file.",
    "err.adopt.hint": "Choose the file of {model}; it is checked before it is used.",
    "model.bad": "The downloaded file is damaged. It was removed; nothing else is affected.",
    "model.bad.hint": "Try again later, or from another network.",
}


class Sentence(str):
    """A sentence in English that knows its ``key`` and ``values``; see :func:`say`."""

    key: str
    values: Mapping[str, Any]

    def __new__(cls, text: str, key: str, values: Mapping[str, Any]) -> Sentence:
        made = super().__new__(cls, text)
        made.key = key
        made.values = dict(values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence, (str(self), self.key, dict(self.values))


def say(key: str, **values: Any) -> Sentence:
    """The English sentence ``key`` with ``values`` filled in. KeyError when there is none."""
    return Sentence(ENGLISH[key].format(**values), key, values)
