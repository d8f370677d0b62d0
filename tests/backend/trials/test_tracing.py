# SPDX-License-Identifier: GPL-2.0-or-later
"""What is traced: which functions, in which kernels, and lines of probes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from duet.errors import InputError
from duet.kernels.probeable import Functions, Refusal
from duet.trials import tracing
from duet.trials.tracing import Mark


class Kernel(Functions):
    """A kernel with these functions."""

    def __init__(self, *names: str) -> None:
        self.names = dict.fromkeys(names, 1)

    def refusal(self, name: str) -> Refusal | None:
        return None if name in self.names else Refusal("it may be inlined", "Name a caller.")


def kernels(**names: str) -> Mapping[str, Functions]:
    return {arm: Kernel(*text.split()) for arm, text in names.items()}


def test_functions_of_all_kernels_come_first_and_the_rest_is_named() -> None:
    known = kernels(stock="a b", mine="a b fresh")
    draft = tracing._Draft({})
    found = tracing._functions(draft, ["fresh", "gone", "a", "b"], known, 2)
    assert [(one.name, one.arms) for one in found] == [("a", ()), ("b", ())]
    assert draft.missing == [
        "gone() is not traced: it may be inlined",
        "fresh() is not traced: 2 functions are (name it with --fn)",
    ]
    assert tracing._functions(tracing._Draft({}), ["fresh"], known, 2)[0].arms == ("mine",)


def test_a_glob_finds_functions_and_an_unknown_one_is_refused() -> None:
    known = kernels(stock="shrink_slab shrink_node other")
    assert tracing._globbed(["shrink_*"], known) == ["shrink_node", "shrink_slab"]
    with pytest.raises(InputError, match=r"is called 'no_\*"):
        tracing._globbed(["no_*"], known)


def test_a_probe_becomes_a_line_of_kprobe_events() -> None:
    known = kernels(stock="pipe_write")
    (mark,) = tracing._marks(
        tracing._Draft({}), "probe:pipe_write(iocb=$arg1, +8($arg2):u32)", known
    )
    define = "p:duet/pipe_write pipe_write iocb=$arg1:s64 arg2=+8($arg2):u32"
    wanted = Mark("pipe_write", "pipe_write()", "duet/pipe_write", define, ("iocb", "arg2"))
    assert mark == wanted
    with pytest.raises(InputError, match="it may be inlined"):
        tracing._marks(tracing._Draft({}), "probe:gone", known)
    with pytest.raises(InputError, match="GROUP:EVENT"):
        tracing._marks(tracing._Draft({}), "sched", known)


def test_keys_are_names_of_a_lesson_and_stand_once() -> None:
    draft = tracing._Draft({})
    assert [draft.key(name) for name in ("__X.isra.0", "x_isra_0", "f")] == [
        "x_isra_0",
        "x_isra_0-2",
        "f",
    ]
