# SPDX-License-Identifier: GPL-2.0-or-later
"""setup.sh: packages by what a suite has, and a line a step."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.debian_archive import Archive, own_apt, served


def call(root: Path, folder: Path, words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Have bash run some words with the functions of setup.sh, which does nothing else."""
    text = (root / "setup.sh").read_text()
    functions, cases = text.split('\ncase "${1:-all}" in\n')
    assert cases
    script = folder / "setup.sh"  # it goes to its own folder
    script.write_text(f"{functions}\n{words}\n")
    return subprocess.run(
        ["bash", str(script)], env={**os.environ, **env}, timeout=60,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_step_is_one_line_with_its_time(root: Path, tmp_path: Path) -> None:
    done = call(
        root, tmp_path, 'step "npm packages" quietly npm bash -c "echo noise; echo noise >&2"'
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"setup: npm packages, \d s\n", done.stderr)
    assert list(tmp_path.glob(".setup-*")) == []


def test_what_a_step_said_is_shown_when_it_fails(root: Path, tmp_path: Path) -> None:
    done = call(root, tmp_path, 'step "the page" quietly page bash -c "echo no such file; exit 1"')
    assert done.returncode == 3
    assert done.stderr.splitlines()[:2] == ["setup: the page", "no such file"]
    assert f"Read {tmp_path}/.setup-page.log" in done.stderr
    assert (tmp_path / ".setup-page.log").read_text() == "no such file\n"


@pytest.mark.skipif(shutil.which("gpg-agent") is None, reason="gpg-agent is not installed")
def test_a_name_is_no_pattern_and_the_first_that_the_suite_has_is_taken(
    root: Path, tmp_path: Path
) -> None:
    archive = Archive(tmp_path)
    for name in ("linux-source-6.12", "clang-18", "clang-19"):
        archive.add("new", name, "1", "/usr/share/nothing", b"")
    archive.publish("new")
    with served(archive) as address:
        line = f"deb [arch=amd64 signed-by={archive.keyring}] {address} new main\n"
        env = own_apt(tmp_path / "apt", line)
        subprocess.run(["apt-get", "-qq", "update"], env={**os.environ, **env}, check=True)
    here = tmp_path / "here"
    here.mkdir()
    names = "linux-source-6.1 linux-source-6.12 clang-20 clang-19 clang-18"
    done = call(root, here, f"offered {names}", **env)
    assert set(done.stdout.split()) == {"clang-18", "clang-19", "linux-source-6.12"}
    chosen = (
        "suite=$(offered clang-20 clang-19 clang-18); first \"$suite\" 'clang-20|clang-19|clang-18'"
    )
    assert call(root, here, chosen, **env).stdout == "clang-19\n"
    none = call(
        root, here, 'suite=$(offered linux-source-6.1); first "$suite" linux-source-6.1', **env
    )
    assert (none.returncode, none.stdout) == (1, "")


def test_another_system_is_told_of_the_container(root: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "readlink", "sed"):
        (programs / name).symlink_to(shutil.which(name) or "")
    done = call(root, tmp_path, "packages qemu-system-x86", PATH=str(programs))
    assert done.returncode == 3
    assert "this system has no apt-get" in done.stderr and "docker compose up" in done.stderr


def test_what_only_tests_need_is_left_out_with_a_sentence(root: Path, tmp_path: Path) -> None:
    words = "install_packages() { echo asked; }; as_root() { :; }\n"
    words += "for once in 1 2; do test_packages bash 'no-such-1|no-such-2' dash; done\n"
    words += "packages no-such-1"
    done = call(root, tmp_path, words)
    assert done.stdout == "asked\nasked\n", "once for the tests, once for what all need"
    left = (
        "setup: this system has no package no-such-1 or no-such-2: tests that need it are skipped\n"
    )
    assert done.stderr.count(left) == 2
    assert done.returncode == 3
    assert "error: this system has no package no-such-1." in done.stderr
