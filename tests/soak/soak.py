#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lanes in a loop, with one fault a round; each round says what it found.

    .venv/bin/python -m tests.soak.soak [--minutes N] [--seed N] [--only FAULT,FAULT] [--report F]

A real server with real guests, in folders, a cache and (as root) file systems and a PID namespace
of its own. After each round: the promised sentence was said, other lanes were unharmed, processes,
descriptors, sockets, temporary files and memory are what they were, and all came in time. The
faults come in decks: each once, shuffled by the seed; those that end the server come last, and in
every third deck only, so that leaks have time to show. Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from websockets.exceptions import WebSocketException

REPO = Path(__file__).resolve().parents[2]

from tests.soak import faults_browser as browser  # noqa: E402
from tests.soak import faults_disk as disk  # noqa: E402
from tests.soak import faults_guest as guest  # noqa: E402
from tests.soak import faults_server as server_faults  # noqa: E402
from tests.soak.fault import Fault, Round  # noqa: E402
from tests.soak.leaks import Ledger, after_end  # noqa: E402
from tests.soak.parked import Starts, groups_left, until_parked  # noqa: E402
from tests.soak.people import Late, Person, Prober  # noqa: E402
from tests.soak.world import MARK, Server, World  # noqa: E402

FAULTS: tuple[type[Fault], ...] = (
    guest.Nothing, guest.KillGuest, guest.PauseGuest, guest.FrozenGuest, guest.KillHelper,
    guest.KillHost,
    guest.PauseHelper, guest.StopAndAgain, server_faults.PauseServer, server_faults.ClockStep,
    server_faults.TwoServers, disk.FullRuns, disk.FullTemporary, disk.FullCache, disk.PowerCut,
    browser.HostileFrames, browser.SlowBrowser, browser.VanishingBrowsers,
    browser.SleepingBrowser, browser.ControllerVanishes, browser.HostileRecordings,
    server_faults.EndServer, server_faults.KillServer,
)  # fmt: skip
ENDS_EVERY = 3
"""Decks between two ends of the server."""
ANSWER_S = 3.0
"""Another viewer's request, on two cores that guests share; usual: 5-50 ms."""
LEFT_ALONE = 0.5
"""The share of rounds before which all guests that are wanted are parked."""
SLACK_S = 60.0
"""Beyond a fault's promise, before a round is given up as hanging."""
MOST_LINES = 60
"""Of the log, that are reported for one fault."""

EXPLAINED = r"duet\.loop: |is saved as|no lane is complete|no whole lane"
NAMESPACE = ("unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
             "--mount-proc")  # fmt: skip


@dataclass(slots=True)
class Figures:
    """What the soak has seen."""

    rounds: list[dict[str, object]] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    waits_s: list[float] = field(default_factory=list)
    servers: int = 0
    starts: Starts = field(default_factory=Starts)

    def tree(self) -> dict[str, object]:
        """For the report."""
        waits = sorted(self.waits_s) or [0.0]
        at = {f"p{p}": round(waits[min(len(waits) - 1, len(waits) * p // 100)], 3)
              for p in (50, 95, 99)}  # fmt: skip
        return {
            "rounds": len(self.rounds), "servers": self.servers, "faults": self.found,
            "skipped": self.skipped, "lanes": dict(self.starts.ways),
            "answer_s": {**at, "most": round(waits[-1], 3)},
            "each": self.rounds,
        }  # fmt: skip


def deck(rng: random.Random, chosen: tuple[type[Fault], ...], ends: bool) -> Iterator[Fault]:
    """Each fault once; those that end the server come last, if at all.

    What ends the host process comes as seldom: whether memory grows shows in a long life only.
    """
    for last in (False, True):
        these = [
            kind() for kind in chosen if kind.ends_server is last and (ends or not kind.ends_host)
        ]
        rng.shuffle(these)
        if not last or ends:
            yield from these


async def one_round(fault: Fault, at: Round, ledger: Ledger) -> tuple[list[str], list[float]]:
    """Let a fault happen; then look for what was left."""
    began, log_at = time.monotonic(), len(at.server.log())
    found: list[str] = []
    waits: list[float] = []
    failed: list[str] = []
    try:
        async with asyncio.timeout(fault.within_s + SLACK_S):
            if fault.probe:
                async with Prober(at.server.address) as prober:
                    waits, failed = prober.waits_s, prober.failed
                    found += await fault.happen(at)
            else:
                found += await fault.happen(at)
    except (Late, TimeoutError, OSError) as error:
        found.append(f"{type(error).__name__}: {error}; {at.person.seen()}")
    except Exception:
        found.append(traceback.format_exc()[-1500:])
    found += [f"another viewer: {one}" for one in failed]
    took = time.monotonic() - began
    if took > fault.within_s:
        found.append(f"took {took:.0f} s, and {fault.within_s:.0f} are promised")
    if waits and max(waits) > ANSWER_S:
        found.append(f"another viewer waited {max(waits):.1f} s")
    if not fault.ends_server:
        if at.server.alive:
            found += await ledger.check(at.world, at.server)
        else:
            found.append(f"the server ended with {at.server.process.returncode}")
    found += unexplained(at.server.log()[log_at:], fault.logs)
    return found, waits


def unexplained(log: str, explained: str) -> list[str]:
    """Lines of the log that are no news and that the fault does not explain.

    What follows a warning or an error, such as its traceback, is explained with it; after an error
    that nothing explains it is part of what is reported.
    """
    known = re.compile(f"{EXPLAINED}|{explained}")
    bad: list[str] = []
    follows = shown = False
    for line in log.splitlines():
        level = re.match(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) ", line)
        if level:
            follows = level[1] not in ("DEBUG", "INFO") and bool(known.search(line))
            shown = not follows and level[1] in ("ERROR", "CRITICAL")
        if follows or known.search(line):
            continue
        if shown or re.match(r"WARNING|Traceback|\w+Error", line):
            bad.append(line)
    # The end of a traceback says what it was.
    cut = bad if len(bad) <= MOST_LINES else [bad[0], *bad[1 - MOST_LINES :]]
    return [f"log: {line[:300]}" for line in cut]


async def soak(minutes: float, seed: int, chosen: tuple[type[Fault], ...]) -> Figures:
    """Rounds until the time is over."""
    rng, figures = random.Random(seed), Figures()
    until = time.monotonic() + minutes * 60
    with World() as world:
        for kind in chosen:
            if kind.needs_root and not world.own_disks:
                figures.skipped[kind().name] = (
                    "needs file systems of its own, which take root and unshare(1)"
                )
        usable = tuple(kind for kind in chosen if kind().name not in figures.skipped)
        number = 0
        server: Server | None = None
        while time.monotonic() < until:
            ends = number % ENDS_EVERY == 0
            number += 1
            for fault in deck(rng, usable, ends):
                if server is None or not server.alive:
                    server, ledger = world.start(), Ledger()
                    figures.servers += 1
                await _round(fault, world, server, ledger, rng, figures)
                if time.monotonic() > until:
                    break
        if server is not None and server.alive:
            took = server.end()
            left = await after_end(world, 1.0) + groups_left(server.pid)
            figures.found += [f"end: {one}" for one in left]
            say(f"end: {took:.1f} s, {len(left)} left behind {left}")
    for one in figures.starts.missing_copies(minutes):
        figures.found.append(one)
        say(f"FOUND {one}")
    return figures


async def _round(
    fault: Fault, world: World, server: Server, ledger: Ledger, rng: random.Random,
    figures: Figures,
) -> None:  # fmt: skip
    began = time.monotonic()
    starts, first = Starts(), not ledger.rounds
    ledger.rounds += 1
    alone = rng.random() < LEFT_ALONE
    try:
        async with Person(server.address, starts.take) as person:
            # Without such moments no guest would be parked, and every lane would boot.
            apart = await until_parked(server, person, first) if first or alone else []
            began = time.monotonic()
            found, waits = await one_round(fault, Round(world, server, person, rng), ledger)
            found = apart + found
    except (OSError, TimeoutError, WebSocketException) as error:
        found, waits = [f"no page could be opened: {error}"], []
    figures.waits_s += waits
    figures.starts.add(starts)
    rss = round(ledger.rss[-1]) if ledger.rss else None
    row = {"fault": fault.name, "seconds": round(time.monotonic() - began, 1), "rss_mb": rss,
           "templates_mb": round(ledger.template_mb), "lanes": dict(starts.ways),
           "found": found}  # fmt: skip
    figures.rounds.append(row)
    figures.found += [f"{fault.name}: {one}" for one in found]
    most = f", answers within {max(waits):.2f} s" if waits else ""
    say(f"{'FOUND' if found else 'ok   '} {fault.name}: {row['seconds']} s, {rss} MB{most}, "
        f"lanes {dict(starts.ways)}")  # fmt: skip
    for one in found:
        say(f"      {one}")


def can_unshare() -> bool:
    """Whether a namespace of its own can be had; a container may forbid it to root."""
    if os.geteuid() != 0:
        return False
    try:
        return not subprocess.run([*NAMESPACE, "true"], capture_output=True, timeout=20).returncode
    except (OSError, subprocess.SubprocessError):
        return False


def say(text: str) -> None:
    """One line, with the time."""
    print(time.strftime("%H:%M:%S"), text, flush=True)


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    if os.environ.get(f"{MARK}_NAMESPACE") != "1" and can_unshare():
        os.environ[f"{MARK}_NAMESPACE"] = "1"
        # A shell is the namespace's first process: it reaps what others leave.
        shell = ("sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "tests.soak.soak",
                 *sys.argv[1:])  # fmt: skip
        os.execvp(NAMESPACE[0], [*NAMESPACE, *shell])
    names = {kind().name: kind for kind in FAULTS}
    wanted = [name for name in given.only.split(",") if name]
    if unknown := [name for name in wanted if name not in names]:
        print(f"error: no fault {unknown[0]!r}.\nremedy: Choose from: {', '.join(names)}.")
        return 2
    chosen = tuple(names[name] for name in wanted) or FAULTS
    say(f"seed {given.seed}, {given.minutes:g} minutes, {len(chosen)} kinds of faults")
    figures = asyncio.run(soak(given.minutes, given.seed, chosen))
    for name, why in figures.skipped.items():
        say(f"skipped {name}: it {why}")
    tree = figures.tree()
    if given.report:
        given.report.write_text(json.dumps(tree, indent=1) + "\n")
    ways = figures.starts.ways
    say(f"lanes: {ways['copied']} copied, {ways['booted']} booted, {ways['reused']} reused")
    say(f"{tree['rounds']} rounds, {tree['servers']} servers, {len(figures.found)} faults, "
        f"another viewer's answers: {tree['answer_s']}")  # fmt: skip
    return 1 if figures.found else 0


if __name__ == "__main__":
    raise SystemExit(main())
