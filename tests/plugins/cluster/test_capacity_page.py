# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/CAPACITY.md has the constants as they are shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.plugins.cluster.capacity.constants import CONSTANTS, REFERENCE, Constant
from duet.plugins.cluster.plan import short


def row(one: Constant) -> str:
    """Its line of the table."""
    figure = f"{short(one.shipped.low)} to {short(one.shipped.high)}"
    return f"| `{one.name}` | {figure} | {one.unit} | {one.what} | `{one.source}` |"


@pytest.mark.parametrize("name", CONSTANTS)
def test_the_page_has_each_constant_as_it_is_shipped(name: str, root: Path) -> None:
    assert row(CONSTANTS[name]) in (root / "docs/CAPACITY.md").read_text().splitlines()


def test_the_page_names_the_machine(root: Path) -> None:
    assert REFERENCE in (root / "docs/CAPACITY.md").read_text()
