# SPDX-License-Identifier: GPL-2.0-or-later
"""Which order a layout is, and the linker script that asks for it."""

from __future__ import annotations

import pytest

from duet.base.errors import KernelError
from duet.kernels import KernelKey
from duet.kernels.links import PAGE, layout_gap, layout_key, layout_order, layout_script

NAMES = [f"fs/file{number}.o" for number in range(40)]
SCRIPT = ".text : { *(.text.hot .text.hot.*) *(.text .text.fixup) *(.text.unlikely) }"


def test_a_number_is_the_same_order_every_time_and_another_one_another() -> None:
    orders = {tuple(layout_order(NAMES, number)) for number in range(1, 31)}
    assert len(orders) == 30
    assert all(sorted(order) == sorted(NAMES) for order in orders)
    assert layout_order(NAMES, 1) == layout_order(reversed(NAMES), 1)


def test_an_object_that_one_arm_has_more_moves_no_other() -> None:
    more = layout_order([*NAMES, "fs/new.o"], 3)
    assert [name for name in more if name != "fs/new.o"] == layout_order(NAMES, 3)


def test_gaps_are_aligned_within_a_page_and_differ_in_it_and_in_a_line() -> None:
    gaps = [layout_gap(number) for number in range(1, 31)]
    assert all(gap % 16 == 0 and 0 <= gap < PAGE for gap in gaps)
    assert len(set(gaps)) > 20
    assert {gap % 64 for gap in gaps} == {0, 16, 32, 48}


def test_the_script_names_every_object_before_the_rest() -> None:
    script = layout_script(SCRIPT, NAMES, 2)
    named = [line for line in script.splitlines() if line.startswith("vmlinux.a:")]
    assert named == [f"vmlinux.a:{n}(.text .text.fixup)" for n in layout_order(NAMES, 2)]
    assert script.index(named[-1]) < script.index("*(.text .text.fixup)")
    assert script.startswith(".text : { *(.text.hot .text.hot.*) . = . + ")


@pytest.mark.parametrize(("script", "times"), [("", "0"), (SCRIPT + SCRIPT, "2")])
def test_a_script_without_the_place_is_refused(script: str, times: str) -> None:
    with pytest.raises(KernelError, match=f"{times} times") as caught:
        layout_script(script, NAMES, 1)
    assert "--layouts" in caught.value.remedy


def test_the_usual_link_keeps_its_key() -> None:
    key = KernelKey("0123")
    assert layout_key(key, 0) == key
    assert layout_key(key, 2) == "0123-layout1.2"
