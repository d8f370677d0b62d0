# SPDX-License-Identifier: GPL-2.0-or-later
"""A vmlinux that somebody has made on purpose: the server lives, and says one sentence."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from duet.base import budgets
from duet.base.errors import DuetError, InfraError, InputError
from duet.confine import ReplyReader
from duet.kernels import KernelSettings
from duet.kernels.vmlinux import ask as asking
from duet.kernels.vmlinux import ask as dwarf
from duet.kernels.vmlinux.ask import READERS
from duet.lenses.scope import functions_text
from duet.lenses.scope.symbols import function_ranges, static_names, variable_ranges

SOURCE = """
struct inner { char c; long deep; };
struct outer { short s; struct inner in; };
struct outer held[4];
__attribute__((noinline)) int walk(int by) { held[0].s += by; return held[0].s; }
int main(void) { return walk(3); }
"""
SECTIONS = (".debug_info", ".debug_abbrev", ".debug_str", ".debug_line", ".symtab", ".strtab")
COMPRESSED = 1 << 11
WAIT_S = 60.0
Sections = dict[str, tuple[int, int, int]]
"""Name -> place of the header, offset and size of the content."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "a.c").write_text(SOURCE)
    command = ["gcc", "-g", "-O1", "-gdwarf-4", "-o", folder / "a", folder / "a.c"]
    subprocess.run(command, check=True, timeout=60)
    return (folder / "a").read_bytes()


@pytest.fixture(autouse=True)
def no_reader_is_left() -> Iterator[None]:
    yield
    READERS.end()


def sections(image: bytes) -> Sections:
    """See elf(5)."""
    (headers,) = struct.unpack_from("<Q", image, 40)
    _, count, names = struct.unpack_from("<HHH", image, 58)
    found = [struct.unpack_from("<IIQQQQ", image, headers + 64 * n) for n in range(count)]
    text = found[names][4]
    return {
        image[text + name : image.index(b"\0", text + name)].decode(): (headers + 64 * n, at, size)
        for n, (name, _, _, _, at, size) in enumerate(found)
    }


def with_noise(image: bytes, name: str, seed: int, share: float = 1.0) -> bytes:
    """Random bytes in a section, from somewhere in it on."""
    chance = random.Random(seed)
    _, at, size = sections(image)[name]
    begin = at + int(size * (1 - share))
    return image[:begin] + chance.randbytes(at + size - begin) + image[at + size :]


def with_field(image: bytes, at: int, form: str, value: int) -> bytes:
    """A number of a header."""
    packed = struct.pack(form, value)
    return image[:at] + packed + image[at + len(packed) :]


def hostile(image: bytes) -> Iterator[tuple[str, bytes]]:
    """Name of what is wrong, and the file."""
    known = sections(image)
    for share in (0.01, 0.3, 0.6, 0.9, 0.999):
        yield f"cut off after {share}", image[: int(len(image) * share)]
    for name in SECTIONS:
        header, at, size = known[name]
        for seed in range(3):
            yield f"noise in {name}", with_noise(image, name, seed, (1.0, 0.5, 0.1)[seed])
        yield f"{name} is cut off", with_field(image, header + 32, "<Q", size // 2)
        for value in (len(image) * 2, 1 << 40, (1 << 64) - 1):
            yield f"{name} of {value} bytes", with_field(image, header + 32, "<Q", value)
            yield f"{name} at {value}", with_field(image, header + 24, "<Q", value)
        packed = with_field(image, header + 8, "<Q", COMPRESSED)
        bomb = struct.pack("<IIQQ", 1, 0, 1 << 44, 1)
        yield f"{name} unpacks to 16 TiB", packed[:at] + bomb + packed[at + len(bomb) :]
    for at, form, values in (
        *((40, "<Q", (0, len(image) - 7, 1 << 63, (1 << 64) - 1)), (60, "<H", (0, 1, 65535))),
        *((58, "<H", (0, 65535)), (62, "<H", (0, 65535)), (18, "<H", (0, 40))),
    ):
        for value in values:
            yield f"{value} at byte {at} of the head", with_field(image, at, form, value)
    link = known[".symtab"][0] + 40
    yield "the symbols' names are elsewhere", with_field(image, link, "<I", 1 << 31)
    yield "the symbols' names are code", with_field(image, link, "<I", 1)


def questions(vmlinux: Path) -> list[Callable[[], object]]:
    """Everything that is asked of a vmlinux."""
    return [
        lambda: dwarf.read(vmlinux, "sizeof struct outer"),
        lambda: dwarf.read(vmlinux, "offsetof struct outer.in.deep"),
        lambda: dwarf.has_function(vmlinux, "walk"),
        lambda: dwarf.number_members(vmlinux, "struct outer"),
        lambda: functions_text(vmlinux, ["walk", "main"], "walk", "main"),
        lambda: functions_text(vmlinux, ["stroll"], None, None),
        lambda: static_names(vmlinux, [1 << 63, (1 << 64) - 1]),
        lambda: variable_ranges(vmlinux, "held"),
    ]


def answers(vmlinux: Path) -> list[object]:
    """What comes of them; an error is one sentence with a remedy."""
    found: list[object] = []
    for question in questions(vmlinux):
        try:
            found.append(question())
        except DuetError as error:
            found.append(error)
            assert error.sentence.endswith(".") and error.remedy, error.sentence
            assert "\n" not in error.sentence and error.sentence.isprintable()
            assert len(error.sentence) < 700
    return found


def test_every_hostile_file_is_answered_or_refused_in_one_sentence(
    good: bytes, tmp_path: Path
) -> None:
    vmlinux, own = tmp_path / "vmlinux", psutil.Process().memory_info().rss
    refused = 0
    for name, image in hostile(good):
        vmlinux.write_bytes(image)
        began = time.monotonic()
        refused += sum(isinstance(one, InfraError) for one in answers(vmlinux))
        assert time.monotonic() - began < WAIT_S, name
    assert refused > 100, "the cases are less hostile than they look"
    assert psutil.Process().memory_info().rss - own < 200 << 20
    vmlinux.write_bytes(good)
    assert dwarf.read(vmlinux, "sizeof struct outer") == 24
    assert not any(isinstance(one, InfraError) for one in answers(vmlinux))


def test_the_process_that_asks_reads_nothing_itself(good: bytes, tmp_path: Path) -> None:
    """Neither drgn nor the reader of symbols is ever loaded there."""
    (tmp_path / "vmlinux").write_bytes(good)
    code = (
        "import sys; from pathlib import Path\n"
        "from duet.kernels.vmlinux import ask as dwarf\n"
        "from duet.runs.measure import read_statics\n"
        "from duet.runs.sources import functions_text\n"
        "path = Path(sys.argv[1])\n"
        "print(dwarf.read(path, 'sizeof struct outer'))\n"
        "print(functions_text(path, ['walk'], None, None).split()[:3])\n"
        "print([m for m in sys.modules if m == 'drgn' or m.startswith('duet.kernels.vmlinux.')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "vmlinux")],
        capture_output=True, text=True, timeout=WAIT_S, check=True,
    )  # fmt: skip
    size, first, loaded = done.stdout.splitlines()
    assert size == "24" and first == "['microscope', '1', 'function']"
    assert loaded == "['duet.kernels.vmlinux.ask']"


def reader() -> psutil.Process:
    """The process that was asked last."""
    child = next(reversed(READERS._open.values()))[0]
    assert child.usable
    return max(filter(_is_zygotes, psutil.process_iter()), key=psutil.Process.create_time)


def _is_zygotes(process: psutil.Process) -> bool:
    try:
        above = process.parents()
        mine = any(one.pid == os.getpid() for one in above)
        return mine and "duet.confine.zygote" in process.cmdline() and not process.children()
    except psutil.Error:
        return False


def test_a_reader_that_died_is_one_sentence_and_the_next_question_is_answered(
    good: bytes, tmp_path: Path
) -> None:
    vmlinux = tmp_path / "d04a" / "vmlinux"
    vmlinux.parent.mkdir()
    vmlinux.write_bytes(good)
    assert dwarf.has_function(vmlinux, "walk")
    process = reader()
    assert "Seccomp:\t2" in Path(f"/proc/{process.pid}/status").read_text()
    process.kill()
    process.wait(WAIT_S)
    with pytest.raises(InfraError, match=r"^the vmlinux of the kernel d04a cannot be read: .*\.$"):
        dwarf.has_function(vmlinux, "walk")
    assert dwarf.has_function(vmlinux, "walk")


def test_time_and_memory_of_a_reader_are_bounded(
    good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = asking._terms
    header = sections(good)[".symtab"][0]
    # A million symbols that all begin in one name of 64 MB.
    count, names = 1_000_000, b"x" * (64 << 20) + b"\0"
    symbol = struct.pack("<IBBHQQ", 0, 2, 0, 1, 1 << 63, 8)
    image = with_field(good, header + 24, "<Q", len(good))
    image = with_field(image, header + 32, "<Q", count * len(symbol))
    string = sections(good)[".strtab"][0]
    image = with_field(image, string + 24, "<Q", len(good) + count * len(symbol))
    image = with_field(image, string + 32, "<Q", len(names))
    vmlinux = tmp_path / "vmlinux"
    vmlinux.write_bytes(image + symbol * count + names)
    for change, said in (
        ({"request_cpu_s": 1.0}, "one step took more than 1 s of CPU time"),
        ({"memory_bytes": 600 << 20}, "it needs more than 600 MiB of memory"),
    ):
        monkeypatch.setattr(
            asking, "_terms", lambda *given, change=change: replace(usual(*given), **change)
        )
        with pytest.raises(InfraError, match=said):
            function_ranges(vmlinux, [("walk", True)])


def test_what_is_no_plain_file_of_a_sensible_size_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", budgets.VMLINUX_BYTES + 1)
    for name, said in (
        *(("pipe", "not a plain file"), ("large", r"2,147,483,648 are allowed")),
        *(("gone", "No such file"), (".", "not a plain file")),
    ):
        with pytest.raises(InfraError, match=said):
            dwarf.has_function(tmp_path / name, "walk")


def test_readers_are_few_and_end_when_nobody_asks(
    good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "VMLINUX_IDLE_S", 0.3)
    for number in range(budgets.VMLINUX_READERS + 2):
        (tmp_path / f"{number}").write_bytes(good)
        assert dwarf.has_function(tmp_path / f"{number}", "walk")
    assert len(READERS._open) <= budgets.VMLINUX_READERS
    last = reader()
    until = time.monotonic() + WAIT_S
    while READERS._open and time.monotonic() < until:
        time.sleep(0.05)
    assert not READERS._open
    psutil.wait_procs([last], timeout=WAIT_S)
    assert not last.is_running()


class Said:
    """A child that has been taken over: it gives any reply."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def call(self, request: dict[str, object]) -> ReplyReader:
        return ReplyReader({"answer": self.answer}, [])

    def reject_reply(self, what: object) -> DuetError:
        return InfraError(f"odd: {what}", remedy="none")


@pytest.mark.parametrize(
    ("question", "bad"),
    [
        (0, [None, -1, 1 << 63, True, "24", 2.5]),
        (3, [None, "s", ["a b"], ["\x1b[2J"], [1], ["s"] * 5000, ["x" * 2000]]),
        (4, [None, [], [[0, 1, 2]], [[0, 1, 2], [5, 1, 2]], [[0, 2, 1], [1, 3, 4], [2, 5, 6]]]),
        (4, [[[0, 1, 1 << 64]], [[0, -1, 2]], [[0, 1]], [[0, "1", 2]], [[0, 1, 2]] * 20_000]),
        (6, [None, [[1, 2]], [[1, "x", 3]], [[-1, "x"]], [[1, "x"]] * 3, [[1, "x" * 2000]]]),
        (7, [None, [[2, 1]], [[1, 2, 3]], [[1, 2]] * 20_000]),
    ],
)
def test_no_answer_is_taken_for_more_than_it_is(
    question: int, bad: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer in bad:
        monkeypatch.setattr(READERS, "child_of", lambda _, answer=answer: Said(answer))
        with pytest.raises(InfraError, match="odd"):
            questions(tmp_path)[question]()


def test_a_real_kernel_that_was_spoilt_is_refused_in_one_sentence(tmp_path: Path) -> None:
    store = KernelSettings.default().cache / "kernels"
    kernel = next((p for p in sorted(store.glob("[0-9a-f]*/vmlinux")) if p.is_file()), None)
    if kernel is None:
        pytest.skip("no kernel is built (./duet build)")
    assert dwarf.read(kernel, "sizeof struct dentry") > 100
    assert "d_flags" in dwarf.number_members(kernel, "struct dentry")
    assert functions_text(kernel, ["dput"], "dput", "__switch_to_asm").count("\n") >= 4
    assert variable_ranges(kernel, "init_task")
    image = kernel.read_bytes()
    vmlinux = tmp_path / "vmlinux"
    for spoilt in (
        image[: len(image) // 2],
        with_noise(image, ".debug_info", 1, 0.9),
        with_noise(image, ".debug_abbrev", 2, 0.9),
    ):
        vmlinux.write_bytes(spoilt)
        with pytest.raises((InfraError, InputError)) as caught:
            for what in ("sizeof struct dentry", "sizeof struct inode", "sizeof struct file"):
                dwarf.read(vmlinux, what)
        assert caught.value.sentence.endswith(".") and "\n" not in caught.value.sentence
