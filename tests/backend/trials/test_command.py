# SPDX-License-Identifier: GPL-2.0-or-later
"""What guests of a trial run: which program, which files come along, what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from duet.trials.command import BadCommand, c_string, needs, read_command

KNOWN = frozenset({"stress-ng", "sh", "sleep"})


def test_a_program_of_the_guest_is_run_as_it_is() -> None:
    command = read_command("stress-ng --ramfs 4 -t 5", KNOWN)
    assert (command.program, command.comm, command.files) == ("stress-ng", "stress-ng*", {})


def test_the_shell_takes_what_only_it_understands() -> None:
    command = read_command("for i in 1 2; do sleep 1; done", KNOWN)
    assert (command.program, command.comm) == ("", "*")


def test_a_program_of_this_machine_comes_with_its_libraries() -> None:
    command = read_command("/usr/bin/env A B", KNOWN)
    assert command.line == "env A B" and command.program == "env"
    assert any(place.endswith("libc.so.6") for place in command.files)
    assert command.files["usr/bin/env"] == Path("/usr/bin/env").resolve()


def test_a_folder_is_copied_whole(tmp_path: Path) -> None:
    top = tmp_path / "my test"
    (top / "data").mkdir(parents=True)
    (top / "run.sh").write_text("#!/bin/sh\ncat data/x\n")
    (top / "run.sh").chmod(0o755)
    (top / "data" / "x").write_text("x")
    command = read_command(str(top), KNOWN)
    assert command.line == "cd '/root/my test' && ./run.sh"
    assert sorted(command.files) == ["root/my test/data/x", "root/my test/run.sh"]


@pytest.mark.parametrize(
    "given, sentence",
    [
        ("  ", "no command"),
        ("no-such-program -x", "neither guests nor this machine"),
        ("./missing", "neither guests nor this machine"),
    ],
)
def test_what_cannot_run_is_refused(given: str, sentence: str) -> None:
    with pytest.raises(BadCommand, match=sentence):
        read_command(given, KNOWN)


def test_a_script_without_its_interpreter_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    with pytest.raises(BadCommand, match="a script for 'python3'"):
        read_command(str(script), KNOWN)
    script.write_text("#!/bin/bash\n")
    assert "bin/bash" in needs(script)


def test_a_folder_without_a_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCommand, match=r"no `run` or `run\.sh`"):
        read_command(str(tmp_path), KNOWN)


def test_a_command_survives_as_a_string_of_c(tmp_path: Path) -> None:
    nasty = "echo \"a\\b\" ??= 'c'\n\ttail"
    source = tmp_path / "x.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{ fputs({c_string(nasty)}, stdout); }}")
    subprocess.run(["gcc", "-trigraphs", "-o", tmp_path / "x", source], check=True)
    said = subprocess.run([tmp_path / "x"], capture_output=True, check=True).stdout
    assert said.decode() == nasty
