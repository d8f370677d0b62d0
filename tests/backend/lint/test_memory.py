# SPDX-License-Identifier: GPL-2.0-or-later
"""Remembered verdicts: they save the work, and a fault in any input is found nevertheless."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from duet.kernels import KernelSettings, plan
from duet.kernels.arms import arm_spec
from duet.kernels.image import KernelImage
from duet.kernels.source import MEMORY
from duet.kernels.traceable import Functions
from duet.lessons.load import LessonFolder, load, slugs
from duet.lint import arms, lessons, memory, probes
from duet.lint.finding import Finding, Subject
from duet.lint.memory import REST, Memory
from duet.lint.result import Problem, Verdict
from tests.support.planted import SLUG, not_built, plant

LESSON = f"lessons/{SLUG}"
OTHER = "09-other"


@pytest.fixture
def tree(recorded: Path, root: Path) -> Path:
    """A checkout with one clean lesson, which has one of its recordings and a table of it."""
    (recorded / "lessons/_common").unlink()
    shutil.copytree(root / "lessons/_common", recorded / "lessons/_common")
    plant(recorded, "    measured_on: wall\n", "")  # the table is not on this clock
    (recorded / LESSON / "lab.yaml").unlink()  # its answers are in the other recordings
    return recorded


@pytest.fixture(autouse=True)
def cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A cache folder of its own, and a program that the process has not looked at yet."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("DUET_CACHE", str(folder))
    memory._machine.cache_clear()
    yield folder
    memory._machine.cache_clear()


def check() -> list[Problem]:
    """Lint as the verb does; do nothing if all is remembered."""
    known = Memory([SLUG], schemas=False)
    if (result := known.result()) is None:
        result = lessons.lint([SLUG], known)
    return list(result.problems)


def remembered() -> list[str]:
    """The parts that another lint would not check."""
    again = Memory([SLUG], schemas=False)
    return [part for part in (SLUG, REST) if again.recall(part) is not None]


def settle() -> None:
    """Let the clock leave the moment of the last change, as it does between two runs of a verb."""
    time.sleep(2 * memory.CLOCK_NS / 1e9)


def learn() -> None:
    """Check a clean lesson until it is remembered."""
    settle()
    assert [str(problem) for problem in check()] == []
    assert remembered() == [SLUG, REST]


@dataclass
class Fault:
    """A change of one input, and a part of the sentence that must be said after it."""

    seed: Callable[[Path], object]
    sentence: str


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def less_of_the_patch(tree: Path) -> None:
    patch = tree / "kernel-patches" / SLUG / "srcu.patch"
    lines = patch.read_text().splitlines(keepends=True)
    added = next(number for number, line in enumerate(lines) if line.startswith("+\t"))
    patch.write_text("".join(lines[:added] + lines[added + 1 :]))


def cut(path: Path) -> None:
    """Cut a file, and keep its time."""
    status = path.stat()
    path.write_bytes(path.read_bytes()[:-1000])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def config_of_the_base(tree: Path) -> Path:
    return tree / "kernel-patches/bases/6.1/base.config"


def word_in_generic_code(tree: Path) -> None:
    (tree / "frontend/src").mkdir(parents=True)
    (tree / "frontend/src/one.ts").write_text(f"export const name = '{SLUG}';\n")


FAULTS = {
    "story": Fault(
        lambda tree: plant(tree, "sentence: wakes", "sentence: wakse"), "has no sentence 'wakse'"
    ),
    "prose": Fault(
        lambda tree: append(tree / LESSON / "content.md", "\n## nowhere\n"),
        "there is no step 'nowhere'",
    ),
    "recording": Fault(lambda tree: cut(tree / LESSON / "recorded/1-hog.duet"), "cannot be"),
    "table": Fault(
        lambda tree: (tree / LESSON / "recorded/measured.json").write_text("{}"),
        "is not a measured table",
    ),
    "patch": Fault(less_of_the_patch, "srcu.patch has changed"),
    "config": Fault(
        lambda tree: append(config_of_the_base(tree), "CONFIG_ANOTHER_ONE=y\n"),
        "the config has changed",
    ),
    "workload": Fault(
        lambda tree: (tree / LESSON / "workload/more.c").write_text("int main(void) { return x; }"),
        "more.c does not compile",
    ),
    "terms": Fault(
        lambda tree: (tree / "lessons/_common/terms.yaml").write_text("terms: []\n"),
        "no common file explains the term",
    ),
    "lab": Fault(
        lambda tree: (tree / LESSON / "lab.yaml").write_text("surplus: 1\n"),
        "there is no such key",
    ),
    "generic code": Fault(word_in_generic_code, "is a word of this lesson"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_checkout_is_found_after_a_good_verdict(tree: Path, name: str) -> None:
    learn()
    fault = FAULTS[name]
    fault.seed(tree)
    assert any(fault.sentence in problem.sentence for problem in check())
    assert any(fault.sentence in problem.sentence for problem in check()), "it is not forgotten"


def test_unchanged_files_are_not_checked_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times do not count, and the reasons for skipped checks are said again."""
    settle()
    before = lessons.lint([SLUG], Memory([SLUG], schemas=False)).not_checked
    assert f"{SLUG}: whether the probes fit" in before[0]
    monkeypatch.setattr(lessons, "RULES", ())
    monkeypatch.setattr(lessons, "of_plugins", lambda slug: pytest.fail(f"{slug} is checked"))
    for path in (tree / LESSON).rglob("*"):
        os.utime(path)
    result = Memory([SLUG], schemas=False).result()
    assert result is not None and result.lessons == (SLUG,)
    assert result.not_checked == before


def test_only_the_part_that_changed_is_checked_again(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn()
    (tree / "frontend/src").mkdir(parents=True)
    (tree / "frontend/src/one.ts").write_text("export const name = 'harmless';\n")
    assert remembered() == [SLUG]
    monkeypatch.setattr(lessons, "RULES", ())
    assert check() == []


def test_a_change_of_the_program_is_another_verdict(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it runs, a process has the code that it began with, so it then remembers nothing."""
    program = tmp_path / "program"
    program.mkdir()
    (program / "rule.py").write_text("one")
    monkeypatch.setattr(memory, "PROGRAM", program)
    learn()

    def rule(subject: Subject) -> Iterator[Finding]:
        yield Finding(f"{subject.folder.slug} breaks a new rule", "Mend it.")

    monkeypatch.setattr(lessons, "RULES", (*lessons.RULES, rule))
    assert check() == [], "the same program"
    (program / "rule.py").write_text("two")
    memory._machine.cache_clear()
    assert [one.sentence for one in check()] == [f"{SLUG} breaks a new rule"]

    monkeypatch.setattr(lessons, "RULES", lessons.RULES[:-1])
    (program / "rule.py").write_text("three")
    assert check() == []
    assert SLUG not in remembered()


def test_a_header_and_a_compiler_outside_the_checkout(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, compiler = tmp_path / "limit.h", tmp_path / "cc"
    header.write_text("#define LIMIT 0\n")
    compiler.write_text('#!/bin/sh\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    memory._machine.cache_clear()
    source = tree / LESSON / "workload/limit.c"
    source.write_text(f'#include "{header}"\nint main(void) {{ return LIMIT; }}\n')
    learn()
    header.write_text("#define LIMITS 0\n")
    arms.compile_messages.cache_clear()  # another run of the verb is another process
    assert any("limit.c does not compile" in one.sentence for one in check())
    header.write_text("#define LIMIT 0\n")
    arms.compile_messages.cache_clear()
    learn()
    compiler.write_text('#!/bin/sh\necho "limit.c:1: error: no such luck" >&2\nexit 1\n')
    arms.compile_messages.cache_clear()
    assert any("no such luck" in one.sentence for one in check())


def test_a_program_of_another_lesson(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guests have the workloads of all lessons."""
    other = tmp_path / "more/lessons" / OTHER
    (other / "workload").mkdir(parents=True)
    shutil.copy(tree / LESSON / "lesson.yaml", other)
    program = other / "workload/borrowed.sh"
    program.write_text("true\n")
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path / "more"))
    memory._machine.cache_clear()
    arms.guest_programs.cache_clear()
    plant(tree, "    run: storm --hogs", "    run: borrowed --hogs")
    settle()
    check()
    assert SLUG in remembered()
    program.unlink()
    arms.guest_programs.cache_clear()
    assert any("no guest has a program 'borrowed'" in one.sentence for one in check())
    arms.guest_programs.cache_clear()


class Kernels:
    """Kernels of all arms in the cache, which have what the probes name."""

    def __init__(self, cache: Path) -> None:
        self._folder, self._settings = load(SLUG), KernelSettings.default()
        base = self._settings.base
        sources = (base.tarball, *self._settings.source_places(base))
        digests = {str(path.absolute()): {"sha256": "0" * 64} for path in sources}
        (cache / MEMORY).write_text(json.dumps(digests))
        for arm in self._folder.usual_arms:
            # The digest of a source that exists is computed and stored now, not by the lint.
            plan(arm_spec(self._folder, arm), self._settings)

    def build(self, arm: str) -> Path:
        """Store the kernel of an arm; return its System.map."""
        symbols = self.symbols(arm)
        symbols.parent.mkdir(parents=True, exist_ok=True)
        names = {
            match["function"]
            for probe in self._folder.lesson.probes
            if (match := probes.DEFINITION.match(probe.define or ""))
        }
        names |= {f"event_{p.event.partition('/')[2]}" for p in self._folder.lesson.probes}
        symbols.write_text("\n".join(sorted({*names, "shrinker_srcu"})))
        return symbols

    def symbols(self, arm: str) -> Path:
        key = plan(arm_spec(self._folder, arm), self._settings)
        return self._settings.store.folder / key / "System.map"

    def find(self, folder: LessonFolder, arm: str, settings: object) -> KernelImage:
        del folder, settings
        symbols = self.symbols(arm)
        if not symbols.is_file():
            not_built()
        image: KernelImage = symbols  # type: ignore[assignment]
        return image

    def read(self, image: object) -> Functions:
        assert isinstance(image, Path)
        names = image.read_text().split()
        return Functions([(at, True, name) for at, name in enumerate(names, 1)], None, ())


@pytest.fixture
def kernels(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Kernels:
    del tree
    found = Kernels(cache)
    monkeypatch.setattr(probes, "find_image", found.find)
    monkeypatch.setattr(probes, "read_functions", found.read)
    return found


def test_a_kernel_that_is_built_later_lacks_a_function(kernels: Kernels) -> None:
    learn()
    symbols = kernels.build("srcu")
    edit(symbols, "event_srcu_gp_state", "event_other")
    assert any("no tracepoint rcu/srcu_gp_state" in one.sentence for one in check())


def test_a_kernel_in_the_cache_is_replaced(kernels: Kernels) -> None:
    symbols = kernels.build("srcu")
    learn()
    edit(symbols, "event_srcu_gp_state", "event_other")
    assert any("no tracepoint rcu/srcu_gp_state" in one.sentence for one in check())


def test_the_source_of_the_kernels_is_another_one(kernels: Kernels, cache: Path) -> None:
    """It decides which kernel is an arm's."""
    kernels.build("srcu")
    learn()
    digests = json.loads((cache / MEMORY).read_text())
    (cache / MEMORY).write_text(json.dumps(digests, indent=2))
    assert remembered() == [REST]


def test_what_is_not_remembered(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Problems, verdicts that a timeout has cut, and bases and sources outside the checkout."""
    del tree
    problem = Problem(SLUG, "x", "it is wrong", "Mend it.", "x", 1)
    for verdict in (Verdict((problem,)), Verdict(lasting=False), Verdict(readable=False)):
        Memory([SLUG], schemas=False).remember(SLUG, verdict)
        assert remembered() == []
    for name in ("DUET_BASE", "DUET_SOURCE"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "/nowhere")
            memory._machine.cache_clear()
            one = Memory([SLUG], schemas=False)
            one.remember(SLUG, Verdict())
            assert Memory([SLUG], schemas=False).recall(SLUG) is None


def test_a_change_during_the_lint_is_not_remembered(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    settle()
    one = Memory([SLUG], schemas=False)
    outside.write_text("new")
    status = outside.stat()
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
    one.remember(SLUG, Verdict(outside={str(outside): stamp}))
    assert remembered() == []
    append(tree / LESSON / "content.md", "\n")
    one.remember(SLUG, Verdict())
    assert remembered() == []


def test_files_that_nobody_needs_go(
    tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MOST_FILES", 4)
    for number in range(9):
        (tree / LESSON / "NOTES.md").write_text(str(number))
        Memory([SLUG], schemas=False).remember(SLUG, Verdict())
    assert len(list((cache / "lint").iterdir())) == 4
    assert remembered() == [SLUG]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"outside": 7}', b"\xff"])
def test_a_broken_file_is_no_verdict(tree: Path, cache: Path, content: bytes) -> None:
    del tree
    Memory([SLUG], schemas=False).remember(SLUG, Verdict())
    (path,) = (cache / "lint").iterdir()
    path.write_bytes(content)
    assert remembered() == []


def test_links_and_missing_folders_have_digests(tmp_path: Path) -> None:
    """A link to a folder above ends, and the same bytes under another name are another tree."""
    one, two = tmp_path / "one", tmp_path / "two"
    assert memory._tree(one) == ""
    for folder, name in ((one, "a"), (two, "b")):
        folder.mkdir()
        (folder / name).write_text("content")
        (folder / "loop").symlink_to(tmp_path)
    assert memory._tree(one) != memory._tree(two)
    before = memory._tree(one)
    (one / "__pycache__").mkdir()
    (one / "__pycache__/x.pyc").write_text("made")
    assert memory._tree(one) == before
    (one / "a").chmod(0o755)
    assert memory._tree(one) != before


PROGRAM = """
import json, os, sys
seen = []

def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes)):
        seen.append(os.path.realpath(os.fsdecode(arguments[0])))

from duet.lint.lessons import rules_of
from duet.lessons.load import load

sys.addaudithook(hook)
for slug in sys.argv[1:]:
    seen.clear()
    verdict = rules_of(slug)
    print(json.dumps({"slug": slug, "seen": sorted(set(seen)), "outside": list(verdict.outside)}))
"""


def test_a_lint_reads_nothing_that_a_verdict_does_not_rest_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that two lessons' rules open are in the lesson, in folders that lessons share, in the
    program, or watched."""
    monkeypatch.delenv("DUET_CACHE")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, SLUG, "04-extent-shrinker"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    others = set(slugs())
    for line in done.stdout.splitlines():
        tree = json.loads(line)
        slug, outside = tree["slug"], {os.path.realpath(name) for name in tree["outside"]}
        allowed = [Path(sys.prefix), Path(sys.base_prefix), Path("/proc"), Path("/dev"), tmp_path]
        allowed += [Path(sys.pycache_prefix)] if sys.pycache_prefix else []
        allowed += [memory.PROGRAM, *(root / name for name in memory.SHARED)]
        strange = [
            path
            for path in map(Path, tree["seen"])
            if not any(path.is_relative_to(one) for one in allowed) and str(path) not in outside
        ]
        assert strange == []
        apart = {
            Path(name)
            for one in others - {slug}
            for name in (f"lessons/{one}", f"kernel-patches/{one}")
        }
        foreign = [
            path
            for path in tree["seen"]
            if any(Path(path).is_relative_to(root / one) for one in apart)
        ]
        assert foreign == []
        assert any(path.startswith(str(root / "lessons" / slug)) for path in tree["seen"])
