# SPDX-License-Identifier: GPL-2.0-or-later
"""The house itself: files that must be true, pins without addresses, containers that parse."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml


def test_requirements_are_pinned_by_hash_and_name_no_address(root: Path) -> None:
    for path in sorted((root / "backend").glob("requirements*.txt")):
        text = path.read_text()
        assert "://" not in text, path.name
        for block in re.split(r"\n(?=\S)", text):
            if re.match(r"^[a-z0-9]", block):
                assert "--hash=sha256:" in block, f"{path.name}: {block.splitlines()[0]}"


def test_npm_lock_names_no_address(root: Path) -> None:
    assert '"resolved"' not in (root / "frontend/package-lock.json").read_text()


def test_containers_use_the_set_up_script_and_parse(root: Path) -> None:
    assert "RUN ./setup.sh kernels" in (root / "Dockerfile").read_text()
    compose = shutil.which("docker-compose")
    if compose is None:
        pytest.skip("docker-compose is not installed (./setup.sh dev installs it)")
    done = subprocess.run(
        [compose, "config"], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )
    service = yaml.safe_load(done.stdout)["services"]["duet"]
    (port,) = service["ports"]
    assert "127.0.0.1" in str(port), "the page is for this machine until somebody says otherwise"
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"].partition(":")[0] != "0"
    assert service["mem_limit"] and service["pids_limit"]
    assert re.search(r"^USER (?!root|0)", (root / "Dockerfile").read_text(), re.MULTILINE)


def test_setup_refuses_an_unknown_word(root: Path) -> None:
    done = subprocess.run(
        [root / "setup.sh", "pages"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 2
    assert 'takes page, kernels, dev, docs or all, but "pages" came' in done.stderr


@pytest.mark.parametrize(
    "target", ["help", "run", "test", "dev", "check", "kernel", "record", "lesson"]
)
def test_make_help_lists(root: Path, target: str) -> None:
    done = subprocess.run(
        ["make", "help"], cwd=root, capture_output=True, text=True, timeout=240, check=True
    )
    assert re.search(rf"^{target}\s", done.stdout, re.MULTILINE)


def test_make_lesson_refuses_a_bad_name(root: Path) -> None:
    done = subprocess.run(
        ["make", "lesson", "LESSON=Six"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode != 0
    assert "must have the form 06-my-question, not 'Six'" in done.stderr


def test_nothing_reads_what_is_not_in_the_clone(root: Path) -> None:
    """No machine paths: what is committed must work anywhere."""
    done = subprocess.run(
        ["git", "grep", "-nIE", r"[^A-Za-z0-9_.](/work|/tmp/w)/"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    hits = [
        h for h in done.stdout.splitlines() if not h.startswith("tests/backend/test_repository.py")
    ]
    assert hits == []


def test_every_wire_file_says_its_licence(root: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.c", "*.h", "*.ts", "*.tsx", "*.sh"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.splitlines()
    silent = [
        name
        for name in listed
        if (root / name).exists()
        and (text := (root / name).read_text(encoding="utf-8"))
        and "SPDX-License-Identifier" not in text[:400]
        and not name.endswith(".gen.ts")
    ]
    assert silent == []


def test_no_test_edits_the_import_path(root: Path) -> None:
    """Helpers are modules of the package `tests`; a path that a file adds hides name clashes."""
    edits = re.compile(r"\bsys" + r"\.path\b")
    folders = [root / "tests", *root.glob("lessons/*/tests")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert files
    assert [str(path.relative_to(root)) for path in files if edits.search(path.read_text())] == []
