# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes and offsets against what the compiler itself says; and of a stored kernel."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.kernels import ArmSpec, KernelSettings, lookup, plan
from duet.kernels.vmlinux import ask as dwarf

SOURCE = """
#include <stddef.h>
#include <stdio.h>
typedef struct { int a; } small_t;
struct inner { char c; long deep; };
struct outer { short s; struct inner in; small_t tail[3]; union { int x; char y[24]; }; };
int main(void)
{
    printf("{\\"sizeof struct outer\\": %zu, \\"sizeof struct inner\\": %zu,"
           "\\"offsetof struct outer.in\\": %zu, \\"offsetof struct outer.in.deep\\": %zu,"
           "\\"offsetof struct outer.y\\": %zu, \\"sizeof small_t\\": %zu,"
           "\\"sizeof struct outer.tail\\": %zu, \\"sizeof struct outer.in.deep\\": %zu}",
           sizeof(struct outer), sizeof(struct inner), offsetof(struct outer, in),
           offsetof(struct outer, in.deep), offsetof(struct outer, y), sizeof(small_t),
           sizeof(((struct outer *)0)->tail), sizeof(((struct outer *)0)->in.deep));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dwarf")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-o", folder / "a", folder / "a.c"], check=True, timeout=60)
    return folder / "a"


def test_every_answer_is_the_compilers(program: Path) -> None:
    reported = subprocess.run([program], capture_output=True, check=True, timeout=120).stdout
    wanted = json.loads(reported)
    assert len(wanted) == 8
    assert {what: dwarf.read(program, what) for what in wanted} == wanted


def test_a_file_that_changed_is_read_anew(program: Path, tmp_path: Path) -> None:
    copy = tmp_path / "vmlinux"
    copy.write_bytes(program.read_bytes())
    assert dwarf.read(copy, "sizeof struct inner") == 16
    changed = tmp_path / "b.c"
    changed.write_text(SOURCE.replace("char c; long deep;", "char c; long deep, deeper;"))
    subprocess.run(["gcc", "-g", "-o", copy, changed], check=True, timeout=60)
    assert dwarf.read(copy, "sizeof struct inner") == 24


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("struct dentry", "but got 'struct dentry'"),
        ("sizeof struct outer; x", "but got 'sizeof struct outer; x'"),
        ("offsetof struct outer", "'offsetof struct NAME.MEMBER'"),
        ("sizeof struct nothing", "could not find 'struct nothing'"),
        ("offsetof struct outer.q", "'struct outer' has no member 'q'"),
        ("sizeof struct outer.q", "has no member 'q'"),
        ("sizeof struct outer.s.q", "not a structure"),
    ],
)
def test_a_wrong_question_is_reported(program: Path, what: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        dwarf.read(program, what)
    assert said in caught.value.sentence
    assert caught.value.remedy


def test_a_file_without_dwarf_is_reported(program: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-o", bare, program], check=True, timeout=120)
    text = tmp_path / "text"
    text.write_text("no ELF")
    for path, said in ((bare, "no DWARF"), (text, "no DWARF"), (tmp_path / "gone", "cannot be")):
        with pytest.raises(InfraError) as caught:
            dwarf.read(path, "sizeof struct inner")
        assert said in caught.value.sentence


def test_stock_has_the_sizes_that_the_lessons_name() -> None:
    settings = KernelSettings.default()
    image = lookup(plan(ArmSpec("02-grace-periods", "rwsem"), settings), settings)
    if image is None:
        pytest.skip("the stock kernel is not built (./duet build)")
    assert dwarf.read(image.vmlinux, "sizeof struct dentry") == 192
    assert dwarf.read(image.vmlinux, "sizeof struct extent_status") == 40
    assert dwarf.read(image.vmlinux, "offsetof struct dentry.d_lockref") == 88
