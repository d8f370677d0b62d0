# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's pure parts, compiled for the host with sanitizers; and its golden frames."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
AGENT = HERE.parents[1] / "vm-images" / "agent"
GOLDEN = HERE.parent / "fixtures" / "frames"
PURE = [AGENT / name for name in ("plan.c", "frame.c", "report.c")]
FLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{AGENT}"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def compile_and_run(name: str, out: Path, *args: str) -> None:
    program = out / name
    sources = [HERE / f"{name}.c", *PURE]
    subprocess.run(["gcc", *FLAGS, *SANITIZE, "-o", program, *sources], check=True, timeout=120)
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["test_plan", "test_frame"])
def test_pure_parts_hold_under_sanitizers(name: str, tmp_path: Path) -> None:
    compile_and_run(name, tmp_path)


def test_golden_frames_are_what_the_agent_writes(tmp_path: Path) -> None:
    compile_and_run("golden", tmp_path, str(tmp_path))
    written = {path.name: path.read_bytes() for path in tmp_path.glob("*.bin")}
    kept = {path.name: path.read_bytes() for path in GOLDEN.glob("*.bin")}
    assert written == kept


def test_a_broken_check_is_seen(tmp_path: Path) -> None:
    """The runner itself can fail: a wrong argument count trips check() in golden.c."""
    with pytest.raises(AssertionError, match="argc == 2"):
        compile_and_run("golden", tmp_path)
