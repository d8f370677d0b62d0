# SPDX-License-Identifier: GPL-2.0-or-later
"""What is traced: which functions, in which kernels, and lines of probes."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import pytest

from duet.base.errors import InputError
from duet.kernels import KernelImage
from duet.kernels.traceable import Functions, Refusal, TraceEvent
from duet.trials import tracing
from duet.trials.tracing import Mark, read_trace


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
        "fresh() is not traced: the limit is 2 functions (see --fn)",
    ]
    assert tracing._functions(tracing._Draft({}), ["fresh"], known, 2)[0].arms == ("mine",)


def test_a_glob_finds_functions_and_an_unknown_one_is_refused() -> None:
    known = kernels(stock="shrink_slab shrink_node other")
    assert tracing._globbed(["shrink_*"], known) == ["shrink_node", "shrink_slab"]
    with pytest.raises(InputError, match=r"wanted to probe the function 'no_\*'"):
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


@pytest.mark.parametrize(
    ("argument", "line", "numbers"),
    [
        ("(pos=+0($arg4))", "pos=+0($arg4):s64", ("pos",)),
        ("(+0(+8($arg1)):string, n=$arg2)", "arg1=+0(+8($arg1)):string n=$arg2:s64", ("n",)),
        ("(a=+u0($arg2):ustring,b=$comm)", "a=+u0($arg2):ustring b=$comm", ()),
        ("(f=+4($arg1):b3@2/8,r=+8($arg1):u8[4])", "f=+4($arg1):b3@2/8 r=+8($arg1):u8[4]", ("f",)),
        ("()", "", ()),
    ],
)
def test_arguments_of_a_probe_are_those_of_kprobe_events(
    argument: str, line: str, numbers: tuple[str, ...]
) -> None:
    known = kernels(stock="vfs_read")
    (asked,) = read_trace([f"probe:vfs_read{argument}"])
    (mark,) = tracing._marks(tracing._Draft({}), asked, known)
    assert mark.define == f"p:duet/vfs_read vfs_read {line}".rstrip()
    assert mark.fields == numbers


def test_commas_within_brackets_are_no_end() -> None:
    asked = ["sched:*, probe:f(a=+0($arg1),b=+0($arg2)),rcu:x", "y:z"]
    assert read_trace(asked) == ("sched:*", "probe:f(a=+0($arg1),b=+0($arg2))", "rcu:x", "y:z")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("sched", "GROUP:EVENT"),
        ("probe:f(a=$arg1", r"probe:FUNCTION\(ARGUMENTS\)"),
        ("syscalls:sys_enter_read", "because a kernel creates them only at boot"),
        ("syscalls:*", "because a kernel creates them only at boot"),
    ],
)
def test_what_no_kernel_could_trace_is_said_before_one_is_built(asked: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_trace([asked])
    if asked == "syscalls:sys_enter_read":
        assert "--fn __x64_sys_read" in caught.value.remedy


def test_an_event_with_too_many_fields_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    images = {"stock": cast(KernelImage, SimpleNamespace())}
    event = TraceEvent("toy", "wide", "wide")
    monkeypatch.setattr(tracing, "trace_events", lambda _: (event,))
    monkeypatch.setattr(tracing, "is_too_wide", lambda *_: True)
    monkeypatch.setattr(tracing, "number_fields", lambda *_: ())
    draft = tracing._Draft(images)
    assert tracing._marks(draft, "toy:wide", {}) == []
    assert draft.missing == ["toy:wide is not traced: it has more than 48 fields"]

    def unknown(*_: object) -> bool:
        raise InputError("the kernel has no such structure.", remedy="x")

    monkeypatch.setattr(tracing, "is_too_wide", unknown)
    draft = tracing._Draft(images)
    assert tracing._marks(draft, "toy:wide", {}) == []
    assert draft.missing == ["toy:wide is not traced: the kernel has no such structure"]


def test_keys_are_names_of_a_lesson_and_stand_once() -> None:
    draft = tracing._Draft({})
    assert [draft.key(name) for name in ("__X.isra.0", "x_isra_0", "f")] == [
        "x_isra_0",
        "x_isra_0-2",
        "f",
    ]
