# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `start`: how long the program takes before it does what it was called for.

Each command runs in a new process, with Python files that are already compiled, as in its second
use. Its CPU time is that of all its processes, in user and kernel mode. Only one figure includes
the check of the set-up that `./duet` makes first.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from duet.base.settings import repo_root
from duet.cli.app import verbs
from tools.bench.speed.pairs import (
    Bench,
    Clock,
    Figure,
    Result,
    Side,
    Skipped,
    Stage,
    Turn,
    compare,
    measured,
    median_figure,
)

NAME = "start"
RECORDING = "02-grace-periods/3-hogs"
EDITED = "lessons/02-grace-periods/NOTES.md"
"""A file of a lesson; a change of it makes the lint check that lesson again."""
READ_BY_LINT = ("lessons", "kernel-patches", "vm-images", "frontend/src", "backend/src")
FORGET = "DUET_BENCH_START"
"""Variable that the lint does not know: with a new value, no verdict is remembered."""
LIBRARIES = "numpy, pydantic, typer, yaml, msgpack"
COMMAND_S = 300.0
SLOWEST_PAIRS = 3
CHILDREN = 20
CHILD = f"""
import time
from duet import confine
from duet.bundle.decoding import ConfinedDecoder
confine.fork(("decoder",))
times = []
for _ in range({CHILDREN}):
    began = time.perf_counter()
    try:
        ConfinedDecoder({{}}, 4096, "nothing")
    except Exception:
        times.append(time.perf_counter() - began)
print(sorted(times)[len(times) // 2])
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program whose start is compared with ours.

    Args:
        words: the command line. Its program is searched for in PATH and beside this Python.
        codes: exit codes of a good run.
        remedy: how to install it.
    """

    words: tuple[str, ...]
    note: str
    remedy: str = ""
    codes: tuple[int, ...] = (0,)

    @property
    def name(self) -> str:
        return " ".join(self.words)


PEERS = (
    Peer(("python3", "-c", "pass"), "The other side does nothing."),
    Peer(("vng", "--help"), "Each prints its own help.", "Run: ./setup.sh dev."),
    Peer(
        ("trace-cmd", "--help"),
        "Each prints its own help. The other program is written in C.",
        "Run: apt-get install trace-cmd.",
        (0, 255),
    ),
)


class Starter:
    """Starts commands in a checkout, without the checks of `./duet`.

    Args:
        folder: scratch folder, also for compiled Python files.
    """

    def __init__(self, folder: Path) -> None:
        self._compiled = folder / "compiled"
        self._data = {"DUET_RUNS": folder / "runs", "DUET_ACCESS": folder / "access.json"}

    def environment(self, more: Mapping[str, object] | None = None) -> dict[str, str]:
        """Return the environment of a command.

        Python writes compiled files into the scratch folder, even where the environment forbids it.
        """
        given = {**os.environ, "PYTHONPYCACHEPREFIX": self._compiled, "DUET_ROOT": repo_root()}
        given |= {**self._data, **(more or {})}
        given.pop("PYTHONDONTWRITEBYTECODE", None)
        return {name: str(value) for name, value in given.items()}

    def run(
        self,
        words: Sequence[str],
        more: Mapping[str, object] | None = None,
        codes: Sequence[int] = (0,),
    ) -> str:
        """Run a command to its end and return its standard output.

        Args:
            codes: exit codes that the command may have.

        Raises:
            subprocess.CalledProcessError: the command failed.
        """
        done = subprocess.run(
            words,
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_S,
        )
        if done.returncode not in codes:
            raise subprocess.CalledProcessError(
                done.returncode, done.args, done.stdout, done.stderr
            )
        return done.stdout

    def turn(
        self,
        words: Sequence[str],
        more: Mapping[str, object] | None = None,
        codes: Sequence[int] = (0,),
    ) -> Turn:
        """Measure a command. Drop its output, because each side prints something different."""
        return measured(lambda: self.run(words, more, codes))._replace(output=None)

    def figure(
        self,
        case: str,
        turns: Sequence[Turn],
        clock: Clock = "cpu",
        target: float | None = None,
        note: str = "",
    ) -> Figure:
        """Return the median of some turns."""
        times = [turn.cpu_s if clock == "cpu" else turn.wall_s for turn in turns]
        unit = "s of CPU" if clock == "cpu" else "s"
        return median_figure(NAME, case, times, unit, target, note=note)

    def several(
        self, bench: Bench, words: Sequence[str], more: Mapping[str, object] | None = None
    ) -> list[Turn]:
        """Return the turns of a command, after one turn that fills the caches."""
        self.turn(words, more)
        return [self.turn(words, more) for _ in range(bench.pairs)]


def duet(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "duet", *words)


def run(bench: Bench) -> Iterator[Result]:
    """Yield help, recordings, lint, server and imports; in a smoke run, only the first three."""
    starter = Starter(bench.folder)
    yield from helps(bench, starter)
    yield from recordings(bench, starter)
    yield from lints(bench, starter)
    if not bench.smoke:
        yield from processes(bench, starter)
        yield from imports(bench, starter)


def helps(bench: Bench, starter: Starter) -> Iterator[Result]:
    """Yield the program's help, alone and beside other programs, and the slowest verb's help."""
    words = duet("--help")
    yield starter.figure("duet --help", starter.several(bench, words), "wall", 0.3)
    if not bench.smoke:
        turns = starter.several(bench, (str(repo_root() / "duet"), "--help"))
        yield starter.figure("./duet --help, with the check of the set-up", turns, "wall")
    for peer in PEERS:
        program = find_program(peer.words[0])
        if program is None:
            why = f"{peer.words[0]} is not installed. {peer.remedy}"
            yield Skipped(NAME, f"duet --help beside {peer.name}", why)
            continue
        other = partial(starter.turn, (program, *peer.words[1:]), codes=peer.codes)
        yield compare(
            bench, NAME, "duet --help",
            Side("duet", partial(starter.turn, words)), Side(peer.name, other),
            work=1, unit="starts", note=peer.note,
        )  # fmt: skip
    if not bench.smoke:
        yield _slowest(starter)


def _slowest(starter: Starter) -> Figure:
    """Return the help of the verb that takes longest."""
    found = {}
    for verb in verbs():
        words = duet(verb.name, "--help")
        starter.turn(words)
        found[verb.name] = [starter.turn(words) for _ in range(SLOWEST_PAIRS)]
    name = max(found, key=lambda one: statistics.median(turn.wall_s for turn in found[one]))
    case = f"the slowest help of {len(found)} verbs"
    return starter.figure(case, found[name], "wall", note=f"duet {name} --help.")


def find_program(name: str) -> str | None:
    """Return the path of a program in PATH, or beside this Python."""
    beside = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    return shutil.which(name, path=beside)


def recordings(bench: Bench, starter: Starter) -> Iterator[Result]:
    """Yield `inspect` and `replay` of a shipped recording, alone and together."""
    turns = {verb: starter.several(bench, duet(verb, RECORDING)) for verb in ("inspect", "replay")}
    for verb, given in turns.items():
        yield starter.figure(f"duet {verb} {RECORDING}", given, target=1.0)
    both = [
        Turn(one.wall_s + other.wall_s, one.cpu_s + other.cpu_s)
        for one, other in zip(turns["inspect"], turns["replay"], strict=True)
    ]
    yield starter.figure("both together", both)
    libraries = (sys.executable, "-c", f"import {LIBRARIES}")
    yield compare(
        bench, NAME, f"duet replay {RECORDING}",
        Side("duet", partial(starter.turn, duet("replay", RECORDING))),
        Side("its libraries alone", partial(starter.turn, libraries)),
        work=1, unit="starts", note=f"The other side imports {LIBRARIES} and ends.",
    )  # fmt: skip


def lints(bench: Bench, starter: Starter) -> Iterator[Result]:
    """Yield the lint of unchanged lessons, after a change of one lesson, and with no memory."""
    words = duet("lint", "--json")
    lessons = len(json.loads(starter.run(words))["lessons"])
    unchanged = starter.several(bench, words)
    yield starter.figure(f"duet lint of {lessons} unchanged lessons", unchanged, "wall", 0.8)
    if bench.smoke:
        return
    root = bench.folder / "checkout"
    for name in READ_BY_LINT:
        shutil.copytree(repo_root() / name, root / name, ignore=shutil.ignore_patterns("*.pyc"))
    place = {"DUET_ROOT": str(root), FORGET: bench.folder.name}
    starter.run(words, place)

    def edited(number: int) -> Turn:
        with (root / EDITED).open("a") as notes:
            notes.write(f"{number}\n")
        return starter.turn(words, place)

    turns = [edited(number) for number in range(bench.pairs)]
    yield starter.figure("duet lint after a change of one lesson", turns, "wall", 5.0)
    turns = [starter.turn(words, place | {FORGET: f"{n}"}) for n in range(SLOWEST_PAIRS)]
    yield starter.figure("duet lint with nothing remembered", turns, "wall")


def processes(bench: Bench, starter: Starter) -> Iterator[Result]:
    """Yield the times of a server that starts and ends, and of a confined child."""
    waits: list[float] = []

    def body() -> None:
        words = duet("serve", "--port", "0", "--no-build", "--json")
        with subprocess.Popen(
            words,
            env=starter.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            assert server.stdout is not None
            waits.append(measured(server.stdout.readline).wall_s)
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=COMMAND_S)

    measured(body)
    waits.clear()
    turns = [measured(body) for _ in range(bench.pairs)]
    waiting = [Turn(wait, 0.0) for wait in waits]
    yield starter.figure("duet serve, until it listens", waiting, "wall")
    yield starter.figure("duet serve, until it listens, and its end", turns)
    times = [float(starter.run((sys.executable, "-c", CHILD))) * 1e3 for _ in range(bench.pairs)]
    yield median_figure(
        NAME, "a confined child, until it has answered", times, "ms",
        note=f"Each value is the median of {CHILDREN} children.",
    )  # fmt: skip


def imports(bench: Bench, starter: Starter) -> Iterator[Result]:
    """Yield what the program's parts and its tests import before they do anything."""
    for module, what in (
        ("duet.api.app", "imports of a server"),
        ("duet.host.process", "imports of a host process"),
        ("duet.session.engine", "imports of a child that plays a lane"),
    ):
        turns = starter.several(bench, (sys.executable, "-c", f"import {module}"))
        yield starter.figure(what, turns, note=f"{module}.")
    tests = "tests/backend/base/test_failures.py"
    if (repo_root() / tests).is_file():
        words = (sys.executable, "-m", "pytest", "-c", str(repo_root() / "backend/pyproject.toml"))
        rest = ("--rootdir", str(repo_root()), "-p", "no:cacheprovider", "-q", "--collect-only")
        turns = starter.several(bench, (*words, *rest, str(repo_root() / tests)))
        yield starter.figure("pytest, until it has collected one file", turns)


STAGE = Stage(NAME, "starts: help, recordings, lint, server and tests", run, 70)
