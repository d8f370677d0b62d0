# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope in real QEMU where things go wrong: restarts, functions that are not there, ranges
of megabytes, arguments that are no good, and a kind of guest that has none."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.guests import GuestOptions, GuestRoot, GuestSpec, Microscope, open_guest, qmp
from duet.guests.qemu import QEMU, qemu_version
from duet.kernels import KernelImage
from duet.lenses.scope import functions_text, plugin_library, watch_line
from tests.support import scope_driver as hammer
from tests.support.guest_driver import Driver
from tests.support.scope_driver import Said
from tests.support.scope_end import ScopeEnd

pytestmark = pytest.mark.guest

LIMIT_S = 240
THREADS, ROUNDS, BOOTS = 2, 500, 2
MACHINE = ("-nodefaults", "-no-user-config", "-display", "none", "-accel", "tcg,thread=multi")
UNMAPPED = 0x1000
Run = Callable[..., object]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hammer.build(tmp_path_factory.mktemp("hammer"))


@pytest.fixture(scope="module")
def plugin() -> Path:
    return plugin_library(asyncio.run(qemu_version()))


@pytest.fixture(scope="module")
def stock() -> KernelImage:
    return hammer.stock()


class Monitor:
    """A QMP connection that also waits for events."""

    def __init__(self, path: Path) -> None:
        until = time.monotonic() + LIMIT_S
        while not path.exists() and time.monotonic() < until:
            time.sleep(0.05)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LIMIT_S)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw")
        self.ask("qmp_capabilities")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def until(self, name: str) -> None:
        """An event of that name, or (`return`) an answer."""
        for line in self._lines:
            reported = json.loads(line)
            assert "error" not in reported, reported
            if name in reported or reported.get("event") == name:
                return
        raise AssertionError(f"QEMU hung up before {name}")

    def ask(self, command: str, **arguments: str) -> None:
        order = {"execute": command, "arguments": arguments}
        self._lines.write(json.dumps(order) + "\n")
        self._lines.flush()
        self.until("return")


@contextmanager
def bare(kernel: KernelImage, root: Path, folder: Path, words: list[str]) -> Iterator[Monitor]:
    """QEMU without our machinery, since a guest of ours ends when it restarts."""
    argv = [
        *(QEMU, *MACHINE, "-M", "q35", "-cpu", "max", "-m", "256", "-smp", str(THREADS)),
        *("-kernel", str(kernel.bzimage), "-initrd", str(root)),
        *("-serial", f"file:{folder / 'console'}", *words),
        *("-append", f"console=ttyS0 tsc=reliable -- hammer={THREADS},{ROUNDS}"),
        *("-qmp", f"unix:{folder / 'qmp'},server=on,wait=off"),
    ]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE)
    try:
        with closing(Monitor(folder / "qmp")) as monitor:
            yield monitor
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_S)


def test_counts_go_on_when_the_guest_restarts(
    program: Path, plugin: Path, stock: KernelImage, tmp_path: Path
) -> None:
    functions, path = tmp_path / "functions", tmp_path / "scope"
    functions.write_text(functions_text(program, ["strike"], "strike", None))
    root = hammer.initrd("init", program, tmp_path / "root.cpio")
    address = hammer.address_of(program, " object")
    words = ["-plugin", f"file={plugin},socket={path},functions={functions}", "-S"]
    with bare(stock, root, tmp_path, words) as monitor, ScopeEnd(path) as end:
        assert end.ask(watch_line(address, hammer.OBJECT_BYTES, 100)).ok
        monitor.ask("cont")
        until = time.monotonic() + LIMIT_S
        while (tmp_path / "console").read_text().count("Linux version") < BOOTS:
            assert time.monotonic() < until
            time.sleep(0.1)
        # The next restart stands still instead, so that what was counted is a whole number of runs.
        monitor.ask("set-action", reboot="shutdown", shutdown="pause")
        monitor.until("STOP")
        cells, _ = end.snapshot()
    runs = re.findall(r"hammer: .*", (tmp_path / "console").read_text())
    said = [Said.of(run) for run in runs]
    assert len(said) == BOOTS
    total = Said(*(sum(column) for column in zip(*(vars_of(one) for one in said), strict=True)))
    assert total.calls == BOOTS * THREADS * ROUNDS == cells.ops_begun
    assert hammer.counted(cells, address) == hammer.wanted(total)
    assert cells.untold == 0


def vars_of(said: Said) -> tuple[int, int, int, int]:
    return said.calls, said.xadd, said.cmpxchg, said.tries


def test_code_that_is_never_run_counts_nothing_and_a_wide_range_everything(
    plugin: Path, stock: KernelImage, guest_root: GuestRoot, run_async: Run
) -> None:
    """One guest: a function where nothing is, and 2 MiB of the kernel's text around vfs_statx()."""
    low = stock.symbols()["vfs_statx"] - (1 << 20)
    high = low + (2 << 20)
    text = f"microscope 1\nfunction nowhere {UNMAPPED:x} {UNMAPPED + 64:x}\n"
    text += f"function text {low:x} {high:x}\n"

    async def scenario() -> None:
        scope = Microscope(plugin, text)
        spec = GuestSpec("stock", stock.bzimage, guest_root.image, microscope=scope)
        async with open_guest("qemu", spec, GuestOptions()) as guest:
            assert guest.facts.scope_socket is not None
            with ScopeEnd(guest.facts.scope_socket) as end:
                outcome = await Driver(guest).run("plan 1\ntrace off\nrun true\n")
                assert outcome.ended is not None and outcome.ended.status == 0
                assert guest.facts.qmp_socket is not None
                async with qmp.Monitor(guest.facts.qmp_socket) as monitor:
                    await monitor.do("stop")  # so that sums do not move meanwhile
                    cells, _ = end.snapshot()
            assert "text is " in guest.console_tail() and "KiB wide" in guest.console_tail()
        assert set(cells.cells["function"].tolist()) == {1}
        assert cells.accesses > 100_000
        reported = sum(int(cells.cells[kind].sum()) for kind in ("reads", "writes", "rmws"))
        assert reported + cells.untold == cells.accesses

    run_async(scenario())


def test_a_name_that_the_kernel_does_not_have_is_refused_before_a_guest_boots(
    stock: KernelImage,
) -> None:
    with pytest.raises(InputError, match="no function 'dput_twice'") as refused:
        functions_text(stock.vmlinux, ["dput", "dput_twice"], None, None)
    assert "dput" in refused.value.remedy


GOOD = "microscope 1\nfunction one 1000 2000\n"
REFUSED = {
    "an unknown argument": (",speed=9", GOOD, "wanted socket=PATH and functions=PATH, each once"),
    "one twice": (",socket=/dev/null", GOOD, "each once, but `socket=/dev/null` came"),
    "an empty one": (",functions=", GOOD, "each once, but `functions=` came"),
    "no text": ("", "", "the functions file names no function"),
    "other text": ("", "hello\n", "does not begin with `microscope 1`"),
    "overlap": ("", GOOD + "function two 1fff 3000\n", "the ranges of one and two overlap"),
    "empty range": ("", GOOD + "function two 4000 4000\n", "the range of two in line 3 is empty"),
    "no such operation": ("", GOOD + "operation two\n", "the operation two is not among"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_arguments_are_refused_with_a_sentence(name: str, plugin: Path, tmp_path: Path) -> None:
    more, text, sentence = REFUSED[name]
    (tmp_path / "functions").write_text(text)
    words = f"file={plugin},socket={tmp_path}/scope,functions={tmp_path}/functions{more}"
    refused(words, sentence)
    assert not (tmp_path / "scope").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("socket={0}/scope", "wanted socket=PATH and functions=PATH, but functions= is missing"),
        ("functions={0}/functions", "but socket= is missing"),
        ("socket={0}/scope,functions={0}/none", "/none cannot be read: No such file"),
        ("socket={0}/no/scope,functions={0}/functions", "/no/scope: No such file or directory"),
        ("socket={0}/taken,functions={0}/functions", "/taken: Address already in use"),
    ],
)
def test_missing_arguments_and_files_are_refused_with_a_sentence(
    words: str, sentence: str, plugin: Path, tmp_path: Path
) -> None:
    (tmp_path / "functions").write_text(GOOD)
    (tmp_path / "taken").write_text("mine")
    refused(f"file={plugin},{words.format(tmp_path)}", sentence)


def refused(words: str, sentence: str) -> None:
    """QEMU ends at once, and says why."""
    done = subprocess.run(
        [QEMU, *MACHINE, "-M", "none", "-S", "-plugin", words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("microscope: ")]
    assert len(lines) == 1 and sentence in lines[0], done.stderr


def test_a_guest_by_virtme_ng_has_none(
    plugin: Path, stock: KernelImage, guest_root: GuestRoot, run_async: Run
) -> None:
    spec = GuestSpec("stock", stock.bzimage, None, microscope=Microscope(plugin, GOOD))

    async def scenario() -> None:
        options = GuestOptions(programs=guest_root.programs)
        with pytest.raises(InputError, match="virtme-ng guest has no microscope") as reported:
            async with open_guest("vng", spec, options):
                pass
        assert "DUET_GUEST=qemu" in reported.value.remedy

    run_async(scenario())
