# SPDX-License-Identifier: GPL-2.0-or-later
"""ARCHITECTURE.md and the maps it points at, against the tree: stages, folders, files."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

SOURCES = ("", "backend/src/duet", "frontend", "frontend/src", "frontend/src/views", "vm-images")
"""What a path in the text may start from."""


@pytest.fixture(scope="module")
def text(root: Path) -> str:
    return (root / "ARCHITECTURE.md").read_text()


@pytest.fixture(scope="module")
def files(root: Path) -> set[str]:
    """All files of the tree and their folders; git knows the names of both."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    names = {name for name in done.stdout.splitlines() if (root / name).exists()}
    return names | {str(folder) for name in names for folder in Path(name).parents}


def stages(text: str) -> list[tuple[int, str, list[str]]]:
    """Number, name and folders of each row of the main path."""
    rows = re.findall(r"^\| (\d+) \| ([\w ]+) \| ([^|]+) \|", text, re.MULTILINE)
    return [(int(n), name, re.findall(r"`([^`]+)`", folders)) for n, name, folders in rows]


def test_stages_are_numbered_and_their_folders_exist(text: str, root: Path) -> None:
    found = stages(text)
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1)) != []
    for _, name, folders in found:
        assert folders, name
        for folder in folders:
            named = folder.partition("/<")[0]  # views/<kind> is a folder for each kind
            assert any((root / base / named).is_dir() for base in SOURCES), f"{name}: {folder}"


def test_the_backend_counts_its_stages_alike(text: str, root: Path) -> None:
    numbers = {
        Path(folder).name: number
        for number, _, folders in stages(text)
        for folder in folders
        if folder.startswith("backend/")
    }
    said = {}
    for path in (root / "backend/src/duet").rglob("*.py"):
        if stage := re.search(r'^"""Stage (\d+)[.:]', path.read_text(), re.MULTILINE):
            package = path.relative_to(root / "backend/src/duet").parts[0]
            assert numbers.get(package) == int(stage[1]), path
            said[package] = int(stage[1])
    assert len(said) >= 4


def test_each_layer_is_named(text: str, root: Path) -> None:
    config = tomllib.loads((root / "backend/pyproject.toml").read_text())
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    for layer in " | ".join(layers).split(" | "):
        package = root / "backend/src" / layer.replace(".", "/")
        assert package.is_dir() or package.with_suffix(".py").is_file(), layer
        if package.is_dir():
            assert re.search(rf"\b{package.name}\b", text), f"{layer} is not described"


def test_it_is_read_in_a_quarter_of_an_hour(text: str) -> None:
    assert len(text.encode()) <= 12_000


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/DECISIONS.md", "frontend/README.md"])
def test_every_file_it_names_exists(page: str, root: Path, files: set[str]) -> None:
    text = (root / page).read_text()
    by_name = {Path(name).name for name in files}
    for word in re.findall(r"`([\w./-]+/[\w./-]*|[\w.-]+\.(?:py|tsx?|c|md|json))`", text):
        path = word.rstrip("/")
        if "/" not in path:
            assert path in by_name, word
        elif not path.startswith("/") and "NN-slug" not in path:  # that means any lesson
            whole = [f"{base}/{path}".lstrip("/") for base in SOURCES]
            assert any(name in files for name in whole), word


FOREIGN = {
    "base_subprocess.py": "of CPython",
    "kunit_parser.py": "of a kernel's tree",
    "my_list.py": "an example of a probe",
    "file.py": "any probe",
}
"""Names that sources have and the checkout has not -> whose they are."""
SYMBOL = re.compile(r"`([A-Za-z_]\w*)(?:\.([a-z]\w*))?`")


def test_sources_name_python_files_that_exist(root: Path, files: set[str]) -> None:
    named = re.compile(r"(?<![\w/.*{}-])((?:[\w-]+/)*[\w-]+\.py)\b")
    of_product = ("backend/src/", "frontend/src/", "lessons/", "vm-images/agent/")
    ends = {f"/{name}"[-length:] for name in files for length in range(1, len(name) + 2)}
    wrong = [
        f"{source}: {word}"
        for source in sorted(files)
        if source.startswith(of_product) and source.endswith((".py", ".ts", ".tsx", ".c", ".h"))
        for word in named.findall((root / source).read_text(encoding="utf-8"))
        if word.rsplit("/", 1)[-1] not in FOREIGN and f"/{word}" not in ends
    ]
    assert wrong == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/DECISIONS.md"])
def test_every_class_it_names_exists(page: str, root: Path, files: set[str]) -> None:
    code = "\n".join(
        (root / name).read_text(encoding="utf-8")
        for name in files
        if name.startswith(("backend/src/", "frontend/src/", "vm-images/"))
        and name.endswith((".py", ".ts", ".tsx", ".c", ".h"))
    )
    words = set(re.findall(r"\w+", code))
    for first, second in SYMBOL.findall((root / page).read_text(encoding="utf-8")):
        if first[0].isupper() and not first.isupper():
            assert first in words and (not second or second in words), f"{first}.{second}"
