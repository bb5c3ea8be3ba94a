"""Neither the page nor a command talks to another computer unless asked to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from core.config import PROJECT

WATCHED = """
import json, runpy, sys
notes = open(sys.argv.pop(1), "a", buffering=1)
def watch(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        place = given[:2] if event == "socket.getaddrinfo" else given[1]
        notes.write(json.dumps([event, repr(place)]) + "\\n")
sys.addaudithook(watch)
sys.argv[0] = "app.py"
runpy.run_path("app.py", run_name="__main__")
"""
HOME = ("127.0.0.1", "localhost", "'::1'", "0.0.0.0", "None")


def outside(notes: Path) -> list[str]:
    lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    return [f"{event} {place}" for event, place in lines if not any(home in place for home in HOME)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def environment(tmp_path):
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return kept | {
        "FACEFUSION_DATA_FOLDER": str(tmp_path / "data"),
        "FACEFUSION_MODEL_FOLDER": str(tmp_path / "models"),
    }


def test_the_watch_sees_an_outside_call(tmp_path, environment):
    notes = tmp_path / "notes"
    code = WATCHED.replace(
        'runpy.run_path("app.py", run_name="__main__")',
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
        "s.connect(('192.0.2.1', 9)); s.close()",
    )
    subprocess.run([sys.executable, "-c", code, notes], cwd=PROJECT, env=environment, check=True)
    assert outside(notes) != []


def test_a_swap_makes_no_outside_call(tmp_path, environment, astronaut_path, grace_hopper_path):
    notes = tmp_path / "notes"
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, notes, "swap", "--source", grace_hopper_path,
         "--target", astronaut_path, "--output", tmp_path / "out.png", "--consent"],
        cwd=PROJECT, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.png").exists()
    assert outside(notes) == []


def test_the_page_opens_without_an_outside_call(tmp_path, environment):
    notes, port = tmp_path / "notes", free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", WATCHED, notes, "--port", str(port), "--no-browser"],
        cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    uploads = tmp_path / "data" / "uploads"
    try:
        page = wait_for_page(f"http://127.0.0.1:{port}/", server)
        assert len(list(uploads.iterdir())) == 1  # this run's own folder
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
    assert list(uploads.iterdir()) == []
    assert "FaceFusion UI" in page
    for host in ("fonts.googleapis", "cdn.", "huggingface.co/front"):
        assert host not in page
    assert outside(notes) == []


def wait_for_page(address: str, server: subprocess.Popen) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(240):
        assert server.poll() is None, "the server ended"
        try:
            with opener.open(address, timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            time.sleep(0.5)
    pytest.fail("the page never opened")
