"""What native code says on standard error, caught so that it can become a reason.

ONNX Runtime tells why a provider could not be used only there: it raises nothing.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import BinaryIO

_one_at_a_time = threading.Lock()


@contextmanager
def caught_words() -> Iterator[Callable[[], str]]:
    """Catch file descriptor 2; after the block the value gives ONNX Runtime's error as text.

    Lines of other threads that fell into the net go on to where they were meant for. One block
    runs at a time, in the whole process.
    """
    words: list[str] = []
    # ONNX Runtime's Python part prints its troubles to standard output, which belongs to --json.
    printed = redirect_stdout(io.StringIO())
    with _one_at_a_time, tempfile.TemporaryFile() as net, printed:
        try:
            kept = os.dup(2)
        except OSError:  # a program without a console has no standard error
            yield lambda: ""
            return
        os.dup2(net.fileno(), 2)
        try:
            yield lambda: "".join(words)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            words.append(_sort(net))


def error_of(text: str) -> str:
    """The cause in lines of ONNX Runtime: what follows ``with error:``, else the error itself."""
    found = re.findall(r"with error: (.*)", text)
    if not found:
        found = re.findall(r"\[E:onnxruntime[^\]]*\] ?(.*)", text)
    return str(found[0]).strip() if found else ""


def _sort(net: BinaryIO) -> str:
    net.seek(0)
    lines = net.read().splitlines(keepends=True)
    native = [line for line in lines if _is_native(line)]
    others = [line for line in lines if not _is_native(line)]
    if others:
        os.write(2, b"".join(others))
    plain = re.sub(rb"\x1b\[[\d;]*m", b"", b"".join(native))
    return error_of(plain.decode("utf-8", "replace"))


def _is_native(line: bytes) -> bool:
    return b":onnxruntime:" in line or re.fullmatch(rb"(\x1b\[[\d;]*m)?\s*", line) is not None
