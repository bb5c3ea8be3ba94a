"""The commands scripts rely on: their outputs, reports and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.cli import run_command
from core.config import PROJECT, Settings
from core.services import build_services
from core.system import models_markdown


@pytest.fixture
def settings_here(tmp_path):
    return Settings(data_folder=tmp_path / "data", model_folder=tmp_path / "models", offline=True)


@pytest.fixture
def command(settings_here, capsys):
    """Runs a command in this process: exit code, standard output, standard error."""

    def run(*tokens: object) -> tuple[int, str, str]:
        pages = []
        code = run_command(
            [str(token) for token in tokens],
            settings_here,
            build_services,
            lambda settings, browser: pages.append((settings, browser)),
        )
        out, err = capsys.readouterr()
        run.pages = pages
        return code, out, err

    return run


@pytest.fixture
def swap(command, grace_hopper_path, astronaut_path, tmp_path):
    def run(*more: object, source: Path = grace_hopper_path, target: Path = astronaut_path):
        usual = ["swap", "--source", source, "--target", target, "--output", tmp_path / "out.png"]
        return command(*usual, *more)

    return run


def test_swap_prints_and_writes_the_report(swap, tmp_path):
    code, out, _ = swap("--consent", "--json", "--report", tmp_path / "report.json")
    assert code == 0
    printed, written = json.loads(out), json.loads((tmp_path / "report.json").read_text())
    assert printed == written
    assert (printed["frames_total"], printed["frames_changed"], printed["faces_found"]) == (1, 1, 1)
    assert printed["notices"] == [] or printed["notices"][0]["text"]
    assert printed["stage_ms"]["swap"] > 0
    assert Path(printed["output"]["path"]) == tmp_path / "out.png"
    for line in printed["providers"]:
        assert {"model", "asked", "used", "nodes", "reason", "advice"} <= set(line)
        assert line["used"] == "cpu"
        assert sum(line["nodes"].values()) > 20


def test_swap_says_in_words_what_it_did(swap):
    code, out, _ = swap("--consent")
    assert code == 0
    assert "1 face of 1 changed" in " ".join(out.split())
    assert "Marked as AI-edited" in out


def test_without_consent_nothing_is_made(swap, tmp_path):
    code, _, err = swap()
    assert code == 6
    assert "consent" in err
    assert not (tmp_path / "out.png").exists()


@pytest.fixture
def flat(tmp_path):
    path = tmp_path / "flat.png"
    Image.new("RGB", (320, 240), (90, 140, 120)).save(path)
    return path


def test_no_face_is_exit_code_2_with_an_honest_report(swap, flat, tmp_path):
    code, out, err = swap("--consent", "--report", tmp_path / "report.json", "--json", target=flat)
    assert code == 2
    assert "No face found in this picture" in " ".join(err.split())
    assert json.loads(out)["exit_code"] == 2
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["frames_total"], report["frames_changed"], report["faces_found"]) == (1, 0, 0)
    assert report["output"] is None
    assert report["notices"][0]["key"] == "noface.pic"


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--swap.likeness", "3"], 2, "likeness"),
        (["--provider", "cudaa"], 2, "Did you mean 'cuda'"),
        (["--face", "7"], 2, "no face 7"),
        (["--face", "0"], 2, "numbered from 1"),
        (["--likenes", "1"], 2, "likenes"),
        (["--quality", "400"], 2, "quality"),
    ],
)
def test_wrong_input_is_explained(swap, more, code, says):
    found, _, err = swap("--consent", *more)
    assert found == code
    assert says in " ".join(err.split())
    assert "Traceback" not in err


def test_a_provider_that_cannot_be_had_is_told_with_the_reason(swap):
    code, out, _ = swap("--consent", "--provider", "cuda", "--json")
    assert code == 0
    lines = json.loads(out)["providers"]
    assert {line["asked"] for line in lines} == {"cuda"}
    for line in lines:
        assert line["used"] == "cuda" or line["reason"]


def test_options_reach_the_processor(swap, tmp_path):
    swap("--consent", "--swap.likeness", "0")
    plain = np.asarray(Image.open(tmp_path / "out.png"))
    swap("--consent", "--swap.likeness", "1", "--overwrite")
    shaped = np.asarray(Image.open(tmp_path / "out.png"))
    assert (plain != shaped).any()


def test_several_sources_and_steps_can_be_given(
    command, grace_hopper_path, astronaut_path, tmp_path
):
    code, out, _ = command(
        "swap", "--source", grace_hopper_path, "--source", grace_hopper_path,
        f"--target={astronaut_path}", "--output", tmp_path / "out.jpg", "--consent",
        "--inspect.mesh", "--label", "--json",
    )  # fmt: skip
    assert code == 0
    report = json.loads(out)
    assert {"swap", "inspect"} <= set(report["stage_ms"])
    assert report["provenance"]["label"]


def test_inspect_draws_on_every_face(command, astronaut_path, tmp_path):
    code, out, _ = command(
        "inspect", "--target", astronaut_path, "--output", tmp_path / "seen.png", "--consent",
        "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["faces_changed"] == 1
    drawn = np.asarray(Image.open(tmp_path / "seen.png"))
    assert (drawn != np.asarray(Image.open(astronaut_path).convert("RGB"))).any()


def test_system_tells_where_each_model_runs(command):
    code, out, _ = command("system", "--json", "--provider", "cpu")
    facts = json.loads(out)
    assert code == 0
    assert facts["case"] == "cpu_chosen"
    assert len(facts["providers"]) >= 6
    for line in facts["providers"]:
        assert {"model", "asked", "used", "nodes", "reason", "advice"} <= set(line)
    assert facts["versions"]["gradio"]


def test_models_are_listed_verified_and_named(command):
    code, out, _ = command("models", "list", "--json")
    assert code == 0
    assert {"face_mesh478", "nsfw5"} <= {row["name"] for row in json.loads(out)}
    code, out, _ = command("models", "verify", "--json")
    assert code == 0
    assert {row["state"] for row in json.loads(out)} == {"ready"}
    assert {row["checksum"] for row in json.loads(out)} == {"verified"}
    code, _, err = command("models", "fetch", "face_mesh")
    assert code == 2
    assert "Did you mean" in err


def test_fetching_what_is_built_in_is_no_error(command):
    assert command("models", "fetch", "nsfw5")[0] == 0


def test_the_model_table_in_the_repository_is_the_one_the_code_makes(services):
    kept = (PROJECT / "models" / "README.md").read_text(encoding="utf-8")
    assert kept == models_markdown(services.models())


def test_verify_explains_a_result_and_a_file_without_marks(command, swap, astronaut_path, tmp_path):
    swap("--consent")
    code, out, _ = command("verify", tmp_path / "out.png", "--json")
    assert code == 0
    assert json.loads(out)["state"] == "ours"
    code, out, _ = command("verify", astronaut_path)
    assert code == 2
    assert "no content credentials" in out


def test_the_page_opens_without_a_command(command):
    assert command("--port", "7999", "--no-browser", "--offline")[0] == 0
    settings, browser = command.pages[0]
    assert (settings.port, settings.offline, browser) == (7999, True, False)


def test_bench_gives_a_table(command):
    code, out, _ = command("bench", "built-in", "--rounds", "2", "--json")
    assert code == 0
    rows = json.loads(out)
    assert len(rows) >= 3


def test_the_exit_code_reaches_the_shell(tmp_path):
    done = subprocess.run(
        [sys.executable, PROJECT / "app.py", "verify", tmp_path / "nowhere.png"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "nowhere.png is not there" in done.stderr
