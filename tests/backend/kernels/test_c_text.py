# SPDX-License-Identifier: GPL-2.0-or-later
"""C without comments, line by line; and whether two versions of a file are the same code."""

from __future__ import annotations

import pytest

from duet.kernels.changed import same_code, without_comments


def test_comments_go_and_lines_stay() -> None:
    text = 'a /* b\n c */ d // e \\\n f\n"/*x*/" \'"\' /* y */ g\n/* open\n'
    assert without_comments(text) == 'a  \n d  \n\n"/*x*/" \'"\'   g\n \n'


@pytest.mark.parametrize(
    ("name", "one", "other", "same"),
    [
        ("mm/a.c", "int a; /* old */\n", "/*\n * new\n */\nint  a;\n\n", True),
        ("mm/a.c", 'f("a  b");\n', 'f("a b");\n', False),
        ("mm/a.c", "int a;\n", "int b;\n", False),
        ("mm/a.c", "#define A \\\n\t1\n", "#define A\n\t1\n", False),
        ("mm/Kconfig", "# old\nconfig A\n", "# new\nconfig A\n", True),
        ("mm/Makefile", "\tcc # a\n", "cc # a\n", False),
        ("scripts/a.py", "if x:\n  y\n", "if x:\ny\n", False),
    ],
)
def test_what_counts_as_code(name: str, one: str, other: str, same: bool) -> None:
    assert same_code(name, one, other) is same
