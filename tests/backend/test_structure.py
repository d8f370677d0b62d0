# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of the backend import each other in no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def modules(source: Path) -> dict[str, Path]:
    """Dotted name -> file; a package is its `__init__.py`."""
    found = {}
    for path in (source / "duet").rglob("*.py"):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run, late ones included; those for type checkers alone do not run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield from statements(other)
        else:
            yield from statements(node)


def imports_of(path: Path, known: dict[str, Path]) -> set[str]:
    """Files that a file names. That a package runs before its modules is no import of theirs."""
    found = set()
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in known}
        elif node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
    return found


def circle(source: Path) -> list[str]:
    """One circle of files; empty: there is none."""
    known = modules(source)
    graph = {name: imports_of(path, known) for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_file_imports_itself_by_way_of_others(root: Path) -> None:
    assert circle(root / "backend/src") == []


def test_a_circle_is_found_and_a_type_checkers_import_is_none(tmp_path: Path) -> None:
    package = tmp_path / "duet"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def late():\n    from duet import b\n")
    late = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from duet.a import late\n"
    (package / "b.py").write_text(late)
    assert circle(tmp_path) == []
    (package / "b.py").write_text("from duet.a import late\n")
    assert {"duet.a", "duet.b"} == set(circle(tmp_path))
