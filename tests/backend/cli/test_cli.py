# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as a script sees it: exit codes, stdout, stderr. Boots nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from duet.base.plugins import Group
from duet.cli.app import LazyCommands, Verb, app, verbs
from duet.cli.entry import main
from duet.guests import cpu_time

SLUG = "02-grace-periods"
RECORD_KEYS = {"code", "sentence", "remedy", "detail"}


def duet(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duet", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | env,
    )


@pytest.fixture
def empty_cache(tmp_path: Path) -> str:
    return str(tmp_path / "cache")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("run", "02-grace-period"), "did you mean '02-grace-periods'"),
        (("run", SLUG, "--arms", "rwsem,scru"), "did you mean 'srcu'"),
        (("run", SLUG, "--arms", "srcu,srcu"), "twice"),
        (("run", SLUG, "--set", "hogs=0"), "from 1 to 9"),
        (("run", SLUG, "--set", "hogs=1000000"), "from 1 to 9"),
        (("run", SLUG, "--set", "hog=3"), "did you mean 'hogs'"),
        (("run", SLUG, "--set", "hogs"), "NAME=NUMBER"),
        (("run", SLUG, "--set", "hogs=many"), "NAME=NUMBER"),
        (("run", SLUG, "--clock", "sun"), "clock 'sun'"),
        (("run", SLUG, "--workload", "dd"), "no workload 'dd'"),
        (("run", SLUG, "--repeats", "0"), "--repeats"),
        (("run",), "lesson"),
        (("build", "99-none"), "there is no lesson '99-none'"),
        (("build", "--arm", "srcu"), "--arm needs the arm's lesson"),
        (("record", SLUG, "--name", "../x"), "not a valid name for a recording"),
        (("lint", "99-none"), "there is no lesson"),
        (("serve", "--port", "70000"), "--port"),
        (("serve", "--host", "not a host"), "cannot listen on 'not a host'"),
        (("sing",), "sing"),
    ],
)
def test_unusable_input_is_two_lines_and_code_2(
    arguments: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(list(arguments))
    said = capsys.readouterr()
    assert code == 2, said.err
    error, remedy = said.err.strip().splitlines()[:2]
    assert error.startswith("error: ") and word in error
    assert remedy.startswith("remedy: ") and len(remedy) > 12
    assert said.out == ""
    assert "Traceback" not in said.err


def test_a_process_says_so_on_its_standard_error() -> None:
    done = duet("run", SLUG, "--set", "hogs=0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr


def test_with_json_an_error_is_one_document_on_stdout() -> None:
    done = duet("run", SLUG, "--set", "hogs=0", "--json")
    assert (done.returncode, done.stderr) == (2, "")
    error = json.loads(done.stdout)["error"]
    assert set(error) == RECORD_KEYS
    assert error["code"] == "input"


def test_kernels_that_are_not_built_are_code_3(empty_cache: str) -> None:
    done = duet("run", SLUG, "--json", DUET_CACHE=empty_cache)
    assert done.returncode == 3
    error = json.loads(done.stdout)["error"]
    assert error["code"] in ("not-built", "infra", "no-kernel-source", "tool-missing")
    assert error["remedy"]


def test_a_missing_source_tarball_is_code_3_and_named(empty_cache: str) -> None:
    done = duet("build", SLUG, "--source", "/nonexistent.tar.xz", DUET_CACHE=empty_cache)
    assert done.returncode == 3
    assert "/nonexistent.tar.xz" in done.stderr


def test_doctor_tells_every_check_with_a_remedy(empty_cache: str) -> None:
    done = duet("doctor", "--json", DUET_CACHE=empty_cache)
    tree = json.loads(done.stdout)
    names = [check["name"] for check in tree["checks"]]
    assert {"python", "gcc", "qemu-system-x86_64", "kernel source", "disk", "kvm", "page"} <= set(
        names
    )
    for check in tree["checks"]:
        assert set(check) == {"name", "status", "found", "needed_for", "remedy"}
        assert check["status"] == "ok" or check["remedy"] or check["name"] == "kvm"
    assert done.returncode == (0 if tree["ok"] else 3)


def test_doctor_without_programs_fails_and_says_what_to_install(
    tmp_path: Path, empty_cache: str
) -> None:
    done = duet("doctor", PATH=str(tmp_path), DUET_CACHE=empty_cache)
    assert done.returncode == 3
    assert "apt-get install qemu-system-x86" in done.stdout


def test_lint_is_clean() -> None:
    done = duet("lint", "--json")
    tree = json.loads(done.stdout)
    assert (done.returncode, tree["problems"]) == (0, [])


def test_lint_names_an_unknown_key_with_its_place(tmp_path: Path, root: Path) -> None:
    for folder in ("lessons", "kernel-patches"):
        shutil.copytree(root / folder / SLUG, tmp_path / folder / SLUG)
    path = tmp_path / "lessons" / SLUG / "evidence.yaml"
    path.write_text(path.read_text().replace("caveats:", "caveat:"))
    done = duet("lint", SLUG, "--json", DUET_ROOT=str(tmp_path))
    tree = json.loads(done.stdout)
    assert (done.returncode, tree["ok"], tree["lessons"]) == (2, False, [SLUG])
    (found,) = tree["problems"]
    line = path.read_text().split("\n").index("caveat:") + 1
    assert "did you mean 'caveats'" in found["sentence"] and found["remedy"]
    file = f"lessons/{SLUG}/evidence.yaml"
    assert (found["file"], found["line"], found["key"]) == (file, line, "caveat")
    assert found["where"] == f"evidence.yaml:{line}"


def test_a_taken_port_is_one_sentence(empty_cache: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = duet("serve", "--port", str(port), "--no-build", DUET_CACHE=empty_cache)
    assert done.returncode == 3
    error, remedy = done.stderr.strip().splitlines()
    assert error == f"error: port {port} is taken by another program."
    assert "--port" in remedy


@pytest.fixture
def server(empty_cache: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"DUET_CACHE": empty_cache},
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_ends_soon_after_a_signal_also_with_pages_open(
    server: tuple[subprocess.Popen[str], dict[str, Any]], number: signal.Signals
) -> None:
    process, reported = server
    assert set(reported) == {"url", "host", "port", "pid", "tokens", "links"}
    with urllib.request.urlopen(f"{reported['url']}api/health") as answer:
        assert json.load(answer)["status"] == "ok"
    with socket.create_connection((reported["host"], reported["port"])) as idle:
        idle.sendall(b"GET /ws HTTP/1.1\r\nHost: localhost\r\n")
        began, waited_s = time.monotonic(), 0.0
        process.send_signal(number)
        while process.poll() is None:
            took_s = time.monotonic() - began
            if now := cpu_time(process.pid):
                waited_s = now.waited_ns / 1e9
            assert took_s < 120, "it does not end"
            time.sleep(0.02)
        assert process.returncode == 0
        assert took_s - waited_s < 5, "it waited for something else than a CPU"
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_help_lists_every_verb_in_a_group_on_one_line_of_80_columns() -> None:
    done = duet("--help", COLUMNS="80")
    shown = done.stdout.partition("\n")[2]  # after the usage
    assert "..." not in shown and "…" not in shown
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    sections = re.split(r"^(\w+):\n", done.stdout, flags=re.MULTILINE)
    headings = [group.capitalize() for group in get_args(Group)]
    assert sections[3::2] == headings, "after the options"
    found = {
        (heading.lower(), *line.split(maxsplit=1))
        for heading, body in zip(sections[3::2], sections[4::2], strict=True)
        for line in body.partition("\n\n")[0].splitlines()
    }
    assert found == {(verb.group, verb.name, verb.help) for verb in verbs()}
    assert len(found) > 30


@pytest.mark.parametrize("name", [verb.name for verb in verbs()])
def test_help_of_a_verb_is_whole_at_80_columns(name: str) -> None:
    found = app.commands[name]
    shown = found.get_help(typer.Context(found, info_name=name, terminal_width=80))
    assert all(len(line) <= 80 for line in shown.splitlines())
    usage, _, rest = shown.partition("\n")
    words = "".join(rest.split())
    # Only arguments that may be repeated have an ellipsis.
    assert "..." not in re.sub(r"\b\w+\.\.\. <", "", rest) and "…" not in rest, usage
    assert "".join(found.help.split()) in words
    for one in found.params:
        text = getattr(one, "help", None)
        assert not text or "".join(text.split()) in words, one.name


def test_the_table_has_the_first_sentence_of_each_verbs_own_help() -> None:
    for verb in verbs():
        assert app.commands[verb.name].get_short_help_str(1000) == verb.help, verb.name
    assert len({verb.name for verb in verbs()}) == len(list(verbs()))


PROGRAM = """
import sys
from duet.cli.entry import main
try:
    main(sys.argv[1:])
finally:
    names = sorted(name for name in sys.modules if name.startswith("duet."))
    print(*names, file=sys.stderr)
"""


@pytest.mark.parametrize("words", [("--help",), ("lint", "--help"), ("sing",)])
def test_help_imports_the_module_of_no_other_verb(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False
    )
    imported = set(done.stderr.splitlines()[-1].split())
    assert "duet.cli.app" in imported
    assert imported & {verb.module for verb in verbs()} == (
        {"duet.cli.lint"} if words[0] == "lint" else set()
    )
    # A plug-in's own file says which verbs it has.
    assert {name.split(".")[1] for name in imported} <= {"base", "cli", "plugins"}
    assert all(name.count(".") <= 2 for name in imported if ".plugins" in name)


def test_a_row_of_a_plug_in_is_a_verb(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Verb("views-too", "tests.backend.cli.added_verb", "Say a word.", "author")
    monkeypatch.setattr("duet.cli.app.plugin_verbs", lambda: iter([row]))
    monkeypatch.setattr(app, "commands", LazyCommands())
    assert main(["views-too", "--json"]) == 7
    assert json.loads(capsys.readouterr().out) == {"word": "hello"}
    assert main(["--help"]) == 0
    assert "views-too   Say a word.\n" in capsys.readouterr().out
    assert main(["views-too", "--help"]) == 0
    assert "JSON keys: word." in capsys.readouterr().out


def test_help_of_every_verb_documents_its_json_keys() -> None:
    for verb in ("doctor", "build", "serve", "run", "record", "lint", "views"):
        done = duet(verb, "--help")
        assert done.returncode == 0
        assert "JSON keys" in done.stdout
