# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes are imported by their files; what is wrong with one is said when it is asked for."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from duet.base.errors import DuetError, InputError
from duet.kernels.vmlinux.ask import split_path
from duet.lenses.kernel import Kernel, LensError
from duet.lenses.loading import Probes, fault_of, load_probe
from duet.lenses.memory import Gone, Memory
from duet.lenses.probes import variable
from duet.lenses.registry import probe_files
from duet.lenses.worker import sample_name

GOOD = """from _help import answer
class Probe:
    def __init__(self, kernel, memory, of=""):
        self.value = answer(of)
"""
KERNEL, MEMORY = cast("Kernel", object()), cast("Memory", object())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The probes of lesson 01-one; lesson 02-two has the same with another helper."""
    for slug, word in (("01-one", "one"), ("02-two", "two")):
        made = tmp_path / "lessons" / slug / "probes"
        made.mkdir(parents=True)
        (made.parent / "lesson.yaml").write_text("title: x\n")
        (made / "good.py").write_text(GOOD)
        (made / "_help.py").write_text(f"def answer(of):\n    return '{word} ' + of\n")
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    return tmp_path / "lessons" / "01-one" / "probes"


def make(probes: Probes, name: str, lesson: str = "01-one", of: str = "") -> Any:
    return probes.make(name, lesson, KERNEL, MEMORY, of)


def test_each_lesson_has_its_own_probe_and_its_own_helper(folder: Path) -> None:
    probes = Probes()
    assert make(probes, "good", "01-one", "x").value == "one x"
    assert make(probes, "good", "02-two", "x").value == "two x"
    assert "_help" not in sys.modules
    # No file is read after the process has confined itself.
    shutil.rmtree(folder)
    assert make(probes, "good").value == "one "
    with pytest.raises(InputError, match="no x-ray probe 'nope'") as caught:
        make(probes, "nope")
    assert "good" in caught.value.remedy and "variable" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nclass Probe\n", r"bad raised SyntaxError: .*01-one/probes/bad\.py, line 2"),
        ("import no_such_thing\n", r"bad raised ModuleNotFoundError: .*bad\.py, line 1"),
        ("x = {}\nx['a']\n", r"bad raised KeyError: 'a' \(lessons/01-one/probes/bad\.py, line 2"),
        ("x = 1\n", r"bad has no class Probe \(lessons/01-one/probes/bad\.py\)"),
    ],
)
def test_a_file_with_a_mistake_is_named_and_disturbs_no_other(
    folder: Path, text: str, said: str
) -> None:
    (folder / "bad.py").write_text(text)
    probes = Probes()
    assert make(probes, "good").value == "one "
    with pytest.raises(LensError, match=said) as caught:
        make(probes, "bad")
    assert caught.value.remedy


def test_a_mistake_of_a_probe_has_its_line_and_a_refusal_stays_what_it_is(folder: Path) -> None:
    head = "class Probe:\n    def __init__(self, kernel, memory, of=''):\n        "
    (folder / "bad.py").write_text(
        head + "kernel.no_such()\n    def sample(self):\n        1 / 0\n"
    )
    (folder / "fussy.py").write_text(
        "from duet.base.errors import InputError\n"
        + head
        + "raise InputError('no.', remedy='so')\n"
    )
    (folder / "gone.py").write_text(
        "from duet.lenses.memory import Gone\n" + head + "raise Gone('away')\n"
    )
    probes = Probes()
    with pytest.raises(LensError, match=r"bad raised AttributeError: .*bad\.py, line 3"):
        make(probes, "bad")
    with pytest.raises(InputError, match=r"^no\.$"):
        make(probes, "fussy")
    with pytest.raises(Gone):
        make(probes, "gone")
    probe: Any = load_probe(folder / "bad.py")
    with pytest.raises(ZeroDivisionError) as fault:
        probe.sample(None)
    assert "line 5" in fault_of("bad", fault.value).sentence


def test_every_probe_that_is_shipped_can_be_imported() -> None:
    loaded = {name: load_probe(path) for name, path in probe_files().items()}
    assert {name: found for name, found in loaded.items() if isinstance(found, DuetError)} == {}


def test_samples_of_a_probe_that_is_named_twice_are_told_apart() -> None:
    names = ["variable", "variable", "dentry"]
    assert sample_name("dentry", "a*", names) == "dentry"
    assert sample_name("variable", "nr_files", names) == "variable:nr_files"
    assert len(sample_name("variable", "a" * 90, names)) == 63


@pytest.mark.parametrize("of", ["", "1x", "a b", "a.", "a[-1]", "a.b()", "a->", "a[x]"])
def test_a_path_that_is_none_is_refused(of: str) -> None:
    with pytest.raises(InputError, match="a variable's name and a path"):
        variable.Probe(KERNEL, MEMORY, of)


def test_a_path_is_steps() -> None:
    assert split_path("init_task.mm->pgd[3].x") == ("init_task", ["mm", "pgd", 3, "x"])
