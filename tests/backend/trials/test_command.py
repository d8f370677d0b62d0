# SPDX-License-Identifier: GPL-2.0-or-later
"""What guests of a trial run: which program, which files come along, what is refused."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.lint.arms import guest_programs
from duet.trials import command as command_module
from duet.trials.command import OVER_LIMIT, BadCommand, c_string, needs, read_command

KNOWN = frozenset({"stress-ng", "sh", "sleep"})


def test_a_program_of_the_guest_is_run_as_it_is() -> None:
    command = read_command("stress-ng --ramfs 4 -t 5", KNOWN)
    assert (command.program, command.comm, command.files) == ("stress-ng", "stress-ng*", {})


def test_the_shell_takes_what_only_it_understands() -> None:
    command = read_command("for i in 1 2; do sleep 1; done", KNOWN)
    assert (command.program, command.comm) == ("", "*")


def test_a_program_of_this_machine_comes_with_its_libraries() -> None:
    command = read_command("/usr/bin/env A=B", KNOWN)
    assert command.line == "/usr/bin/env A=B" and command.program == "env"
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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with two programs, data and two sources."""
    folder = tmp_path / "here"
    (folder / "my dir").mkdir(parents=True)
    (folder / "data").mkdir()
    for name in ("prog", "my dir/prog"):
        (folder / name).write_text("#!/bin/sh\necho it ran\n")
        (folder / name).chmod(0o755)
    (folder / "data" / "in.txt").write_text("x")
    (folder / "repro.c").write_text("int main(void) { return 3; }\n")
    (folder / "wrong.c").write_text("int main(void) { return x; }\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("given", "program", "files"),
    [
        ("timeout 5 ./prog", "prog", {"root/prog"}),
        ("timeout -s KILL -k 3 10 ./prog a", "prog", {"root/prog"}),
        ("sleep 1 && ./prog", "", {"root/prog"}),
        ("FOO=1 ./prog", "", {"root/prog"}),
        ("./prog | sleep 1", "", {"root/prog"}),
        ("./prog; true", "", {"root/prog"}),
        ("'./my dir/prog' x", "prog", {"root/my dir/prog"}),
        (r"./my\ dir/prog x", "prog", {"root/my dir/prog"}),
        ("for i in 1 2; do ./prog $i; done", "", {"root/prog"}),
        ("sh -c './prog; true'", "", {"root/prog"}),
        ("f() { ./prog; }; f 1", "", {"root/prog"}),
        ('echo "$(./prog)"', "", {"root/prog"}),
        ("sleep 1 <data/in.txt", "sleep", {"root/data/in.txt"}),
        ("sleep --file=data/in.txt", "sleep", {"root/data/in.txt"}),
        ("sleep data/", "sleep", {"root/data/in.txt"}),
        ("cd data && sleep in.txt", "", {"root/data/in.txt"}),
        ("sleep /etc/passwd /proc/cpuinfo .. 'a;b'", "sleep", set()),
    ],
)
def test_files_of_this_machine_are_found_in_a_shell_line(
    here: Path, given: str, program: str, files: set[str]
) -> None:
    command = read_command(given, KNOWN)
    assert (command.line, command.program) == (given, program)
    assert {place for place in command.files if "/lib" not in place} == files


def test_no_program_of_this_machine_takes_the_place_of_a_guests_own(here: Path) -> None:
    found = read_command("/bin/sh -c './prog; /usr/bin/sleep 1' /bin/sh", KNOWN)
    assert set(found.files) == {"root/prog"}
    assert found.line.startswith("sh -c './prog; sleep 1'")
    assert read_command("/usr/bin/sleep 1; /usr/bin/sleep /", KNOWN).line == "sleep 1; sleep /"
    with pytest.raises(BadCommand, match="neither guests nor this machine"):
        read_command("./sleep 1", KNOWN)


def test_a_wrapper_that_guests_lack_comes_along(here: Path) -> None:
    assert "usr/bin/nice" in read_command("nice -n 5 ./prog", KNOWN).files
    assert "usr/bin/nice" not in read_command("nice -n 5 ./prog", KNOWN | {"nice"}).files


def test_a_path_that_guests_mount_over_is_written_anew(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "MOUNTED", frozenset({here.parts[1]}))
    moved = "/root/" + "/".join(here.parts[1:])
    found = read_command(f"timeout 5 {here}/prog | head", KNOWN)
    assert found.line == f"timeout 5 {moved}/prog | head"
    assert f"{moved}/prog".lstrip("/") in found.files
    found = read_command(f"cd {here} && ./prog", KNOWN)
    assert found.line == f"cd {moved} && ./prog" and f"{moved}/prog".lstrip("/") in found.files


def test_a_line_runs_where_its_files_were_laid_out(here: Path, tmp_path: Path) -> None:
    """As a guest does: the files below another root, the line in its folder root."""
    for given in ("timeout 5 ./prog", "'./my dir/prog'", "cd 'my dir' && ./prog", "FOO=1 ./prog"):
        found = read_command(given, KNOWN)
        for place, path in found.files.items():
            (tmp_path / "guest" / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "guest" / place)
        done = subprocess.run(
            ["sh", "-c", found.line], cwd=tmp_path / "guest/root", capture_output=True, text=True
        )
        assert done.stdout == "it ran\n", (given, done.stderr)


def test_a_source_is_compiled_in_its_place(
    here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DUET_CACHE", str(tmp_path / "cache"))
    found = read_command("timeout 5 ./repro.c 4", KNOWN)
    assert (found.line, found.program) == ("timeout 5 ./repro 4", "repro")
    assert subprocess.run([found.files["root/repro"]], check=False).returncode == 3
    assert read_command("repro.c; ./repro.c", KNOWN).line == "./repro; ./repro"
    with pytest.raises(BadCommand, match=r"wrong\.c does not compile: .*undeclared") as raised:
        read_command("./wrong.c", KNOWN)
    assert "gcc -O2 -static -pthread -o wrong wrong.c" in raised.value.remedy


@pytest.mark.parametrize(
    "given, sentence",
    [
        ("  ", "wants a command"),
        ("no-such-program -x", "neither guests nor this machine"),
        ("./missing", "neither guests nor this machine"),
        ("./missing; true", "neither guests nor this machine"),
        ("timeout 5 ./missing", "neither guests nor this machine"),
        ("sleep 1 | no-such-program", "neither guests nor this machine"),
        ("sh -c 'FOO=1 no-such-program'", "neither guests nor this machine"),
        ("/etc/passwd", "cannot be executed"),
        ("sleep 'open", "a quotation mark is not closed"),
    ],
)
def test_what_cannot_run_is_refused(given: str, sentence: str) -> None:
    with pytest.raises(BadCommand, match=sentence):
        read_command(given, KNOWN)


@pytest.mark.parametrize(
    "given",
    ["cp /bin/sh ./made; ./made", "case x in x) ./later;; esac", "echo $((1+2)) $(date) foo",
     "tr ';' x", "$PROGRAM 1", "if true; then false; fi 2>/dev/null # ./missing",
     "x" * 5000 + "=1"],
)  # fmt: skip
def test_what_cannot_be_known_before_is_not_refused(here: Path, given: str) -> None:
    assert read_command(given, KNOWN).line == given


def test_a_script_without_its_interpreter_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    with pytest.raises(BadCommand, match="a script for 'python3'"):
        read_command(str(script), KNOWN)
    script.write_text("#!/bin/bash\n")
    assert "bin/bash" in needs(script)


def test_a_folder_without_a_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCommand, match=r"with `run` or `run\.sh`, but .* has neither"):
        read_command(str(tmp_path), KNOWN)


def test_a_command_survives_as_a_string_of_c(tmp_path: Path) -> None:
    nasty = "echo \"a\\b\" ??= 'c'\n\ttail"
    source = tmp_path / "x.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{ fputs({c_string(nasty)}, stdout); }}")
    subprocess.run(["gcc", "-trigraphs", "-o", tmp_path / "x", source], check=True)
    said = subprocess.run([tmp_path / "x"], capture_output=True, check=True).stdout
    assert said.decode() == nasty


def program(tmp_path: Path, line: str) -> Path:
    """What runs a command in a guest, compiled as guests' programs are, in a folder of its own."""
    reported = guest_programs(repo_root())
    assert isinstance(reported, dict)
    text = (Path(command_module.__file__).parent / "command.c").read_text()
    text = text.replace('"@COMMAND@"', c_string(line)).replace("@NAME@", "run-x")
    source = tmp_path / "run-x.c"
    source.write_text(text.replace('"/root"', c_string(str(tmp_path))))
    subprocess.run(
        ["gcc", *reported["cflags"], "-o", tmp_path / "run-x", source], check=True, timeout=60
    )
    return tmp_path / "run-x"


def test_a_command_over_its_limit_is_ended_with_what_it_started(tmp_path: Path) -> None:
    runs = program(tmp_path, "sleep 98765 & sleep 98764; true")
    began = time.monotonic()
    done = subprocess.run([runs, "2", "1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 124 and time.monotonic() - began < 30
    said = "run-x: the command did not end within 1 s; --timeout sets another limit\n"
    assert done.stderr == said and OVER_LIMIT in said
    left = subprocess.run(["pgrep", "-f", "sleep 9876[45]"], capture_output=True, text=True)
    assert left.stdout == ""


def test_a_command_within_its_limit_is_as_it_was(tmp_path: Path) -> None:
    done = subprocess.run(
        [program(tmp_path, "echo once"), "2", "60"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stdout.startswith("once\nonce\nrun-x: ops=2 ")
    failed = program(tmp_path, "exit 3")
    done = subprocess.run([failed, "2", "60"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (3, "run-x: the command ended with status 3\n")
