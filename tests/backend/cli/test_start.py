# SPDX-License-Identifier: GPL-2.0-or-later
"""The start of `python -m duet`: verbs that play recordings import their modules once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from duet.cli.app import verbs
from duet.cli.options import find_recording
from duet.confine.zygote import SERVICES
from duet.lessons.folders import places

RECORDING = "02-grace-periods/1-hog"
PLAYING = "import json, duet.__main__ as start; print(json.dumps(start.PLAYING))"
MODULES = """
import runpy, sys
try:
    runpy.run_module("duet", run_name="__main__")
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def test_verbs_that_play_have_services_that_exist() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLAYING], capture_output=True, text=True, check=True
    )
    playing = json.loads(done.stdout)
    assert playing.keys() <= {verb.name for verb in verbs()}
    assert {service for several in playing.values() for service in several} <= SERVICES.keys()


@pytest.mark.parametrize(
    ("verb", "absent"),
    [
        ("inspect", {"duet.session", "duet.lessons.load", "duet.kernels", "asyncio"}),
        ("replay", {"duet.api.app", "duet.server", "duet.kernels.vmlinux.service", "drgn"}),
    ],
)
def test_a_recording_is_read_without_modules_that_it_does_not_need(
    verb: str, absent: set[str]
) -> None:
    """The zygote is a copy of the process, so nothing else imports them either."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES, verb, RECORDING, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["lesson"] == "02-grace-periods"
    assert not absent & set(done.stderr.splitlines()[-1].split())


def test_the_help_of_such_a_verb_starts_no_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MODULES, "replay", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "JSON keys" in done.stdout
    assert "duet.confine" not in done.stderr.splitlines()[-1].split()


def test_the_recording_of_a_lesson_is_found_although_the_lesson_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lessons/01-one"
    (folder / "recorded/grid").mkdir(parents=True)
    (folder / "lesson.yaml").write_text("broken: [")
    for name in ("run.duet", "grid/grid-n-1.duet"):
        (folder / "recorded" / name).touch()
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    assert find_recording("01-one/run") == folder / "recorded/run.duet"
    assert find_recording("recorded:01-one:grid-n-1") == folder / "recorded/grid/grid-n-1.duet"
    assert list(places()["01-one"].bundles()) == ["run", "grid-n-1"]
