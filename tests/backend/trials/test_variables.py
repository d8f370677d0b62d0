# SPDX-License-Identifier: GPL-2.0-or-later
"""Global variables that the x-ray reads in a trial, by the DWARF of compiled programs."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from duet.base.errors import InputError
from duet.kernels import KernelImage
from duet.kernels.vmlinux import ask as dwarf
from duet.lessons.load import load
from duet.trials.mails import Patch
from duet.trials.tracing import Variable, choose_variables, read_paths
from duet.trials.write import Times, write_trial
from tests.backend.trials.made import TRACING, trial

STOCK = """
typedef struct { long counter; } count_t;
struct state { int depth; char name[8]; struct state *up; };
static count_t batches;
int limit = 3;
struct state root;
count_t per_kind[4];
char text[8] = "hello";
int main(void) { return limit + root.depth + (int)batches.counter + (int)per_kind[1].counter; }
"""
FRESH = STOCK.replace("int limit", "unsigned fresh_limit;\nint limit").replace(
    "+ root", "+ fresh_limit + root"
)
DIFF = """\
diff --git a/fs/toy.c b/fs/toy.c
--- a/fs/toy.c
+++ b/fs/toy.c
@@ -1,3 +1,4 @@ void f(void)
-\tif (root.depth > limit)
+\tif (root.depth > fresh_limit)
+\t\tbatches.counter++;
 \tper_kind[0].counter++;
"""


def compiled(folder: Path, name: str, source: str) -> KernelImage:
    (folder / f"{name}.c").write_text(source)
    done = ["gcc", "-g", "-O0", "-o", str(folder / name), str(folder / f"{name}.c")]
    subprocess.run(done, check=True, timeout=60)
    return cast("KernelImage", SimpleNamespace(vmlinux=folder / name))


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelImage]:
    folder = tmp_path_factory.mktemp("variables")
    return {
        "stock": compiled(folder, "stock", STOCK),
        "mine": compiled(folder, "mine", FRESH),
    }


def test_a_path_ends_at_a_number_or_does_not(images: dict[str, KernelImage]) -> None:
    wanted = ("limit", "batches", "batches.counter", "root.depth", "root.up->depth", "per_kind[3]")
    others = ("root", "text", "per_kind", "root.deep", "limit[0]", "absent", "main", "a b", "")
    assert dwarf.number_paths(images["stock"].vmlinux, wanted + others) == wanted


def test_numbers_of_changed_lines_are_read_unless_others_are_named(
    images: dict[str, KernelImage],
) -> None:
    patch = cast("Patch", SimpleNamespace(diff=DIFF))
    missing: list[str] = []
    found = choose_variables(images, (), [patch], missing)
    fresh = Variable("fresh_limit", ("mine",))
    assert found == (Variable("limit"), fresh, Variable("batches")) and not missing
    found = choose_variables(images, ("root.depth", "absent", "fresh_limit"), [patch], missing)
    assert found == (Variable("root.depth"), fresh)
    assert missing == ["absent is not read: no kernel has a global number of that name"]


def test_paths_are_read_once_and_others_refused() -> None:
    assert read_paths(("a.b,c[1]", " c[1], d->e")) == ("a.b", "c[1]", "d->e")
    for given in (["a b"], ["$(x)"], ["a,b()"], [",".join(f"v{n}" for n in range(9))]):
        with pytest.raises(InputError, match="--xray"):
            read_paths(given)


def test_a_trial_with_variables_has_an_xray_and_charts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trial(tmp_path, xray=("rcu_state.gp_seq,limit",))
    assert made.xray == ("rcu_state.gp_seq", "limit")
    variables = (Variable("rcu_state.gp_seq"), Variable("limit", ("wake-all",)))
    folder = tmp_path / made.name
    write_trial(folder, made, replace(TRACING, variables=variables), Times(800, 0.05))
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    lesson = load("90-wake-all").lesson
    assert [(one.probe, one.of) for one in lesson.xray] == [("numbers", "rcu_state.gp_seq,limit")]
    assert [one.field for one in lesson.counters] == ["rcu_state.gp_seq", "limit"]
    assert all("counters" in scene.show for scene in lesson.scenes)
    assert "`limit` (only in wake-all)" in load("90-wake-all").content()
