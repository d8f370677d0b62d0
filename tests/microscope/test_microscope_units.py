# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope's parts that know no QEMU, compiled with sanitizers; and its collector, read by
the host's own reader."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from duet.lenses.scope import RESET, Cells, Hello, Reply, watch_line
from tests.support.scope_end import TIMEOUT_S, ScopeEnd, Toy, Victim

HERE = Path(__file__).parent
MICROSCOPE = HERE.parents[1] / "vm-images" / "microscope"
PURE = [file for file in sorted(MICROSCOPE.glob("*.c")) if file.name != "plugin.c"]
CHECK = HERE.parent / "agent"
FLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{MICROSCOPE}", f"-I{CHECK}"]
SANITIZERS = {"address": "address,undefined", "thread": "thread"}


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """compile_c(name, sanitizer): the program, made once."""
    made: dict[tuple[str, str], Path] = {}

    def make(name: str, kind: str) -> Path:
        if (name, kind) not in made:
            program = tmp_path_factory.mktemp(kind) / name
            flags = [*FLAGS, f"-fsanitize={SANITIZERS[kind]}", "-fno-sanitize-recover=all"]
            command = ["gcc", *flags, "-o", program, HERE / f"{name}.c", *PURE, "-pthread"]
            subprocess.run(command, check=True, timeout=120)
            made[name, kind] = program
        return made[name, kind]

    return make


@pytest.mark.parametrize("kind", SANITIZERS)
@pytest.mark.parametrize("name", ["test_insn", "test_functions", "test_core", "test_threads"])
def test_parts_hold_under_sanitizers(
    name: str, kind: str, compile_c: Callable[[str, str], Path]
) -> None:
    done = subprocess.run(
        [compile_c(name, kind)], capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=list(SANITIZERS))
def toy(
    request: pytest.FixtureRequest, compile_c: Callable[[str, str], Path], tmp_path: Path
) -> Iterator[Toy]:
    one = Toy(compile_c("toy", request.param), tmp_path / "s", 3)
    yield one
    one.end()


@pytest.fixture
def client(toy: Toy) -> Iterator[ScopeEnd]:
    with ScopeEnd(toy.path) as one:
        yield one


def test_collector_tells_counts_and_log_to_the_access(toy: Toy, client: ScopeEnd) -> None:
    assert client.until(lambda _: True) == Hello(protocol=2, api=1, vcpus=3, functions=3)
    assert client.ask(watch_line(0x7000, 192, 5000)) == Reply(True, "watch")
    toy.order("go 1000")
    cells, log = client.snapshot()
    assert cells.full
    table = {(int(c["address"]), int(c["function"]), int(c["inside"])): c for c in cells.cells}
    got = {key: [int(c[k]) for k in ("reads", "writes", "rmws")] for key, c in table.items()}
    own = {(0x9000 + 0x40 * cpu, 2, 0): [1000, 0, 0] for cpu in range(3)}
    assert got == own | {
        (0x7000, 0, 1): [3000, 0, 0],
        (0x7058, 1, 1): [0, 0, 3000],
        (0x70BC, 1, 1): [0, 3000, 0],
        (0x70C0, 1, 1): [0, 3000, 0],
    }
    assert cells.accesses == 3 * 5000
    assert (cells.ops_begun, cells.ops_ended, cells.ops_touching) == (3000, 3000, 3000)
    assert (cells.logged, cells.over, cells.lost, cells.untold) == (5000, 4000, 0, 0)
    assert cells.lines["address"].tolist() == [0x70C0, 0x9000, 0x9040, 0x9080], "busiest first"
    assert log["seq"].tolist() == list(range(5000))
    for cpu in range(3):
        mine = log[log["cpu"] == cpu]
        assert mine["at"].tolist() == ([0, 88, 188] * 1000)[: len(mine)]
        assert mine["class"].tolist() == ([0, 2, 1] * 1000)[: len(mine)]
        assert mine["size"].tolist() == ([8, 8, 4] * 1000)[: len(mine)]
        assert np.all(np.diff(mine["operation"].astype(int)) >= 0)
        assert np.all(np.diff(mine["host_ns"].astype(int)) >= 0)


def test_counts_come_thirty_times_a_second_and_begin_at_each_zero(
    toy: Toy, client: ScopeEnd
) -> None:
    client.ask(watch_line(0x7000, 192, 0))
    toy.order("go 10")
    toy.order("go 10")
    times: list[int] = []
    while len(times) < 9 or (len(times) < 400 and np.diff(times).min() > 100_000_000):
        cells = client.until(lambda m: isinstance(m, Cells) and m.accesses == 3 * 20 * 5)
        assert isinstance(cells, Cells) and not cells.full
        assert set((cells.cells["address"] >> 6).tolist()) <= {
            0x7000 >> 6,
            0x7040 >> 6,
            0x7080 >> 6,
        }
        times.append(cells.host_ns)
    # Never sooner; on a busy host mostly later, so the shortest pause says what it aims at.
    assert np.median(np.diff(times)) / 1e9 > 0.025
    assert np.diff(times).min() < 100_000_000
    assert client.ask(RESET) == Reply(True, "reset")
    assert client.snapshot()[0].accesses == 0
    toy.order("go 1")
    assert client.snapshot()[0].accesses == 15


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"look\n", "wanted `watch ADDRESS BYTES LOG`, `reset` or `snapshot`."),
        (b"\n", "wanted `watch ADDRESS BYTES LOG`, `reset` or `snapshot`."),
        (b"watch 7000 192\n", "wanted `watch ADDRESS BYTES LOG`, `reset` or `snapshot`."),
        (b"watch 7000 192 1 1\n", "wanted `watch ADDRESS BYTES LOG`, `reset` or `snapshot`."),
        (b"watch 7000 -1 1\n", "wanted `watch ADDRESS BYTES LOG`, `reset` or `snapshot`."),
        (b"watch 7000 0 1\n", "wanted 1 to 1024 bytes and a log of at most 16777216 accesses."),
        (b"watch 7000 1025 1\n", "wanted 1 to 1024 bytes and a log of at most 16777216 accesses."),
        (b"watch fffffffffffffff0 100 1\n", "wanted 1 to 1024 bytes and a log of at most"),
        (b"x" * 5000 + b"\n", "the line is too long."),
    ],
)
def test_a_bad_line_is_answered_with_a_sentence(
    client: ScopeEnd, line: bytes, sentence: str
) -> None:
    reply = client.ask(line)
    assert not reply.ok and reply.text.startswith(sentence)
    assert client.ask(RESET).ok


def test_a_client_that_goes_is_forgotten_and_the_next_is_served(toy: Toy, client: ScopeEnd) -> None:
    client.ask(watch_line(0x7000, 192, 100000))
    with ScopeEnd(toy.path) as second:  # waits for its turn
        toy.order("go 500")
        client.socket.close()
        assert isinstance(second.until(lambda _: True), Hello)
        cells, log = second.snapshot()
        assert cells.accesses == 3 * 500 * 5, "counts outlive the client"
        assert len(log) == 0 and cells.logged == 0, "its watch does not"
        second.ask(watch_line(0x7000, 192, 10))
        toy.order("go 1")
        assert len(second.snapshot()[1]) == 9


def test_a_client_that_never_reads_loses_log_and_nobody_waits(toy: Toy, client: ScopeEnd) -> None:
    client.ask(watch_line(0x7000, 192, 1 << 24))
    toy.order("go 40000")
    cells, log = client.snapshot()
    assert cells.accesses == 3 * 40000 * 5
    assert cells.lost > 0
    assert cells.logged + cells.lost == 3 * 40000 * 3
    assert log["seq"].tolist() == list(range(cells.logged)), "what is lost takes no number"


def test_a_fork_takes_nothing_with_it(toy: Toy, client: ScopeEnd) -> None:
    toy.order("fork")
    assert toy.path.exists()
    assert client.ask(RESET).ok


def test_the_end_closes_the_connection(
    compile_c: Callable[[str, str], Path], tmp_path: Path
) -> None:
    one = Toy(compile_c("toy", "address"), tmp_path / "s", 1)
    with ScopeEnd(one.path) as client:
        client.until(lambda m: isinstance(m, Cells))
        one.end()
        with pytest.raises(AssertionError, match="hung up"):
            client.until(lambda _: False)


def test_a_taken_path_is_refused(compile_c: Callable[[str, str], Path], tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    done = subprocess.run(
        [compile_c("toy", "address"), tmp_path / "s", "1"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 3
    assert done.stderr == f"cannot listen on {tmp_path}/s: Address already in use.\n"
    assert (tmp_path / "s").read_text() == "mine"


def test_a_killed_client_is_forgotten(toy: Toy) -> None:
    victim = Victim(toy.path, watch_line(0x7000, 192, 1 << 20))
    toy.order("go 5000")
    victim.kill()
    with ScopeEnd(toy.path) as client:
        assert isinstance(client.until(lambda _: True), Hello)
