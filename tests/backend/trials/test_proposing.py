# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields that a patch adds or moves, who uses them, and events that a next call can draw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from duet.base.errors import InputError
from duet.base.settings import repo_root
from duet.kernels import KernelImage
from duet.kernels.changed import FieldChange, field_changes, users
from duet.kernels.traceable import TraceEvent
from duet.lessons.load import load
from duet.lessons.schema.workload import AccessCount
from duet.trials import proposing, tracing
from duet.trials.proposing import proposals, propose
from duet.trials.tracing import Field, Proposal, Tracing
from duet.trials.write import Times, write_trial
from tests.backend.trials.made import TRACING, trial
from tests.backend.trials.test_tracing import Kernel

MOVED = (repo_root() / "kernel-patches/05-cacheline-pingpong/lockref-moved.patch").read_text()
ADDED = """\
diff --git a/fs/toy.c b/fs/toy.c
--- a/fs/toy.c
+++ b/fs/toy.c
@@ -1,9 +1,12 @@ struct toy {
 \tint old;
+\tunsigned int fresh : 1;
+\tstruct list_head *many[4] ____cacheline_aligned;
+\tvoid (*call)(struct toy *toy);
-\tu64 gone;
 };
 static int use(struct toy *toy)
 {
+\tint local;
 \treturn toy->old;
"""


def test_members_of_structures_are_found_and_locals_are_not() -> None:
    assert field_changes(MOVED) == [FieldChange("dentry", "d_lockref")]
    assert [one.name for one in field_changes(ADDED)] == ["fresh", "many", "call"]
    assert {one.struct for one in field_changes(ADDED)} == {"toy"}


@pytest.fixture
def src(tmp_path: Path) -> Path:
    files = {
        "fs/toy.c": "#include <trace/events/toy.h>\nstatic int use(struct toy *toy)\n{\n"
        "\ttrace_toy_used(toy);\n\treturn toy->old;\n}\n",
        "fs/other.c": "void elsewhere(struct toy *toy)\n{\n\ttoy->fresh = 1;\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_users_are_those_of_the_patch_or_else_of_the_subsystems(src: Path) -> None:
    assert users(src, ["fs/toy.c"], ["old", "fresh"]) == ["use"]
    assert users(src, ["include/linux/toy.h"], ["fresh"]) == ["elsewhere"]
    assert users(src, ["fs/toy.c"], []) == [] == users(src / "none", ["fs/toy.c"], ["old"])


def test_events_that_the_files_emit_come_first_then_groups_near(src: Path) -> None:
    names = ["toy:toy_used", "toy:toy_made", "fs:any", "sched:sched_switch"]
    events = [TraceEvent(*name.split(":"), "t") for name in names]
    found = proposals(events, ["fs/toy.c", "fs/toy.txt"], src)
    assert [one.argument for one in found] == ["toy:toy_used", "toy:*", "fs:*"]
    many = [TraceEvent("toy", f"toy_{number}", "t") for number in range(30)]
    assert proposals(many, ["fs/toy.c"], src) == [], "more than can be drawn"
    assert proposals(events, ["drivers/x.c"], src) == []
    lines = "".join(f"void f{n}(void)\n{{\n\ttrace_toy_{n}();\n}}\n" for n in range(10, 30))
    (src / "fs/toy.c").write_text(lines)
    (own,) = proposals(many, ["fs/toy.c"], src, {"f25"})
    assert own.argument.startswith("toy:toy_25,toy:toy_10,") and len(own.events) == 8


def test_fields_that_a_kernel_lacks_are_numbers_of_the_others(
    src: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = {name: cast(KernelImage, SimpleNamespace(vmlinux=name)) for name in ("stock", "mine")}

    def read(vmlinux: object, what: str) -> int:
        if what.endswith("many") and vmlinux == "mine":
            return 8
        if what.endswith("fresh"):
            raise ValueError("a bit field")
        raise InputError("there is no such member.", remedy="None.")

    monkeypatch.setattr(proposing.dwarf, "read", read)
    monkeypatch.setattr(proposing, "trace_events", lambda _: (TraceEvent("toy", "toy_used", "t"),))
    monkeypatch.setattr(proposing, "read_functions", lambda _: Kernel("use"))
    found = propose(TRACING, images, [ADDED], src)
    assert found.fields == (Field("toy", "many", ("mine",)),)
    assert found.proposed == (Proposal("toy", ("toy_used",), own=True),)
    assert found.watched == (), "nobody in this file uses `many`"
    assert propose(Tracing(), images, [], src) == Tracing()


def test_events_of_the_subsystem_are_drawn_where_no_function_is(
    src: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = {name: cast(KernelImage, SimpleNamespace(vmlinux=name)) for name in ("stock", "mine")}
    events = tuple(TraceEvent("toy", f"toy_{name}", "t") for name in ("made", "used"))
    for module in (proposing, tracing):
        monkeypatch.setattr(module, "trace_events", lambda _: events)
    monkeypatch.setattr(tracing, "is_too_wide", lambda _image, event: event.name == "toy_made")
    monkeypatch.setattr(tracing, "number_fields", lambda *_: ("count",))
    monkeypatch.setattr(proposing, "read_functions", lambda _: Kernel())
    monkeypatch.setattr(proposing.dwarf, "read", lambda *_: 0)
    found = propose(Tracing(), images, [ADDED], src)
    assert [(one.event, one.fields) for one in found.marks] == [("toy/toy_used", ("count",))]
    assert [one.argument for one in found.proposed] == ["toy:*"]
    (said,) = found.said
    assert said.startswith("no function can be drawn, so events of the same subsystem are traced: ")
    assert "--trace 'toy:toy_used'" in said
    drawn = propose(TRACING, images, [ADDED], src)
    assert drawn.marks == TRACING.marks and drawn.said == (), "a function is drawn"


def test_functions_to_watch_may_be_named(monkeypatch: pytest.MonkeyPatch, src: Path) -> None:
    images = {"stock": cast(KernelImage, SimpleNamespace(vmlinux="stock"))}
    monkeypatch.setattr(proposing, "trace_events", lambda _: ())
    monkeypatch.setattr(proposing, "read_functions", lambda _: Kernel("use", "elsewhere"))
    found = propose(Tracing(), images, [], src, ("elsewhere", "gone", "use", "use"))
    assert found.watched == ("elsewhere", "use")
    (left_out,) = found.missing
    assert left_out.startswith("gone() is not watched: ")
    with pytest.raises(InputError, match=r"--watch cannot count calls of gone\(\)"):
        propose(Tracing(), images, [], src, ("gone", "use"))
    with pytest.raises(InputError, match="--watch names 33 functions"):
        propose(Tracing(), images, [], src, tuple(f"f{n}" for n in range(33)))


def test_fields_and_events_are_in_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trial(tmp_path)
    folder = tmp_path / made.name
    more = replace(
        TRACING,
        fields=(Field("pipe_inode_info", "head", ()), Field("pipe_buffer", "private", ("stock",))),
        watched=("pipe_read", "pipe_write"),
        proposed=(Proposal("toy", ("a", "b"), own=True), Proposal("near", ("c",), own=False)),
    )
    write_trial(folder, made, more, Times())
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    whole = load(made.slug)
    metrics = whole.lesson.metrics
    assert metrics["pipe_inode_info_head_at"].dwarf == "offsetof struct pipe_inode_info.head"
    assert metrics["pipe_buffer_private_at"].arms == ("stock",)
    scope = whole.lesson.microscope
    assert scope is not None and scope.functions == ("pipe_read", "pipe_write")
    assert scope.operation == "pipe_read" and scope.workloads == ("watched",)
    shared = metrics["shared_reads"]
    assert shared.microscope == AccessCount(count="reads", shared=True)
    assert (shared.unit, shared.better) == ("per pipe_read()", "lower")
    assert next(iter(whole.lesson.workloads)) == "command", "the usual one runs without it"
    text = whole.content()
    assert "--trace 'toy:a,toy:b'" in text and "--trace 'near:*'" in text
    assert "`./duet microscope 90-wake-all --arm wake-all`" in text
    write_trial(folder, made, TRACING, Times())
    plain = load(made.slug)
    assert plain.lesson.microscope is None and list(plain.lesson.workloads) == ["command"]
    assert "microscope" not in plain.content()
