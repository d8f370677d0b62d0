# SPDX-License-Identifier: GPL-2.0-or-later
"""A plug-in's folders are deleted in a copy of the checkout; the rest has no fault without it.

Here types, layers and the contract are checked, and some core tests run.
`make plugins-out` runs `make check` and all unit tests without any plug-in.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.plugins_out import NAMES, WITHIN_S, copied, run, with_dependants, without


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """The files of the checkout."""
    return copied(root, tmp_path)


@pytest.mark.nightly  # without any is tried in each run, and import-linter knows who needs whom
@pytest.mark.parametrize("name", NAMES)
def test_the_rest_has_no_fault_without(name: str, copy: Path) -> None:
    gone = with_dependants(name)
    without(copy, gone)
    left = run(
        copy, "-c", "from duet.base import plugins; print(*[p.name for p in plugins.found()])"
    )
    assert set(left.split()) == set(NAMES) - gone
    run(copy, "-m", "mypy", "-p", "duet")
    run(copy, "-m", "duet.api.contract", within=".")


def page_has_no_fault(root: Path, copy: Path) -> None:
    """The page's types, after those of messages were generated anew."""
    if shutil.which("node") is None or not (root / "frontend/node_modules").exists():
        pytest.skip("node or the page's tools are missing: setup.sh page")
    (copy / "frontend/node_modules").symlink_to(root / "frontend/node_modules")
    for script in ("contract", "types"):
        done = subprocess.run(
            ["npm", "run", "--silent", script],
            cwd=copy / "frontend", capture_output=True, text=True, timeout=WITHIN_S,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}: {done.stdout[-3000:]}{done.stderr[-3000:]}"


def test_the_core_works_without_any(root: Path, copy: Path) -> None:
    without(copy, set(NAMES))
    run(copy, "-m", "mypy", "-p", "duet")
    run(copy, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache")
    run(copy, "-m", "duet.api.contract", within=".")
    schema = json.loads((copy / "frontend/src/protocol/contract.schema.json").read_text())
    assert {"start", "open"} <= set(schema["client"])
    assert not [tag for tag in (*schema["client"], *schema["server"]) if tag.startswith("class")]
    page_has_no_fault(root, copy)
    tests = ("-m", "pytest", "-c", "backend/pyproject.toml", "--rootdir", ".", "-q")
    tests += ("-p", "no:cacheprovider")
    run(
        copy,
        *tests,
        "tests/backend/api/test_api_http.py",
        "tests/contract/test_messages.py",
        within=".",
    )


def test_the_core_and_its_tests_name_no_plug_in(root: Path) -> None:
    named = re.compile(r"\b(duet|tests)\.plugins\.\w")
    sources = [*(root / "backend/src/duet").rglob("*.py"), *(root / "tests").rglob("*.py")]
    own = ("backend/src/duet/plugins/", "tests/plugins/", "tests/tools/")
    names = [(file.relative_to(root).as_posix(), file) for file in sources]
    found = [
        name
        for name, file in names
        if not name.startswith(own) and named.search(file.read_text(encoding="utf-8"))
    ]
    assert found == []
