# SPDX-License-Identifier: GPL-2.0-or-later
"""A pool of named hosts that are this machine, and a program in place of a comparison's.

The leases, the runner and its pipes are the real ones of the local pool; the toy program needs no
guest: it gives the document that a test has laid down, and does before what `how` says of its host
or comparison.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from duet.measure.plan import conditions
from duet.measure.run import Collector
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.lease import Backing, Lease, Size
from duet.plugins.cluster.local import LocalPool
from duet.plugins.cluster.measuring.request import Facts, Part, Result, counts_of
from duet.plugins.cluster.types import Kind, Program, Refusal, Want, Watched

PROGRAM = """
import base64, json, os, pathlib, signal, sys, time, zlib
folder, host = pathlib.Path(sys.argv[1]), os.environ["TOY_HOST"]
asked = json.load(sys.stdin)
name = f"{asked['params']['hogs']}-{asked['shift']}-{asked['link'] or 0}"
how = json.loads((folder / "how.json").read_text())
act = how.get(f"{host} {name}", how.get(host, how.get(name, how.get("*", ""))))
with open(folder / "log", "a") as log:
    log.write(f"{host} {name} {time.monotonic()} ")
print("run 1 of 2: rwsem, untraced", file=sys.stderr, flush=True)
if act == "dies":
    os.kill(os.getppid(), signal.SIGKILL)  # the runner: what a host that dies does to it
if act in ("dies", "hangs"):
    time.sleep(600)
if act == "silent":
    sys.exit(7)
time.sleep(0.2)
text = (folder / f"{name}.json").read_text()
for word, given in how.get(f"words {host}", {}).items():
    text = text.replace(word, given)
with open(folder / "log", "a") as log:
    log.write(f"{time.monotonic()}\\n")
print("a line of another program")
print("duet-comparison " + base64.b64encode(zlib.compress(text.encode())).decode())
"""
CPU, QEMU, KERNEL, RATE = "@CPU@", "@QEMU@", "@KERNEL@", "123.25"
ROOT = "cd" * 32
"""Words of a document that `how` may replace on a host: {"words n1": {CPU: "big"}}."""


class ToyPool(LocalPool):
    """Hosts by name, each with one lease at a time.

    Args:
        hosts: their names.
        kinds: name of a kind -> its hosts; {}: one kind without a name.
    """

    def __init__(
        self, hosts: Sequence[str], kinds: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        super().__init__(Size(64, 1 << 40))
        self._hosts, self._of = tuple(hosts), dict(kinds or {"": hosts})
        self._taken: dict[object, str] = {}
        self._next = ""
        self.most = 0
        """Leases at one time."""

    async def kinds(self) -> Sequence[Kind]:
        return [Kind(name, tuple(hosts)) for name, hosts in self._of.items()]

    async def _reserve(self, want: Want) -> Lease | Refusal:
        until_s = time.monotonic() + want.within_s
        fit = [host for host in self._of.get(want.kind, self._hosts) if host not in want.avoid]
        if not fit:
            return Refusal("no such host is there.")
        while not (free := [host for host in fit if host not in self._taken.values()]):
            if time.monotonic() >= until_s:
                return Refusal("all hosts are busy.", 30.0)
            await asyncio.sleep(0.02)
        self._next = free[0]
        lease = await super()._reserve(
            replace(want, exclusive=False, vcpus=1, memory_bytes=1 << 30, kind="", avoid=())
        )
        assert isinstance(lease, Lease)
        self._taken[lease] = lease.hosts[0]
        self.most = max(self.most, len(self._taken))
        over = lease.on_over

        def given_back(one: Lease) -> None:
            self._taken.pop(one, None)
            over(one)

        lease.on_over = given_back
        return lease

    def _made(self, want: Want, hosts: Sequence[str], backing: Backing) -> Lease:
        return super()._made(want, [self._next] * len(hosts), _Named(self._next, backing))


class _Named:
    """A backing that says to its programs on which host they are."""

    def __init__(self, host: str, backing: Backing) -> None:
        self._host, self._backing = host, backing
        self.why_over, self.give_back = backing.why_over, backing.give_back

    def program(self, lane: int, start: Start, watched: Watched) -> Program:
        named = replace(start, env={**start.env, "TOY_HOST": self._host})
        return self._backing.program(lane, named, watched)


class Toy:
    """The folder that toy programs read.

    Args:
        parts: what may be asked for.
        how: of hosts and comparisons.
    """

    def __init__(self, folder: Path, parts: Sequence[Part], **how: Any) -> None:
        self.folder = folder
        (folder / "toy.py").write_text(PROGRAM)
        for part in parts:
            plan = part.plan
            name = f"{plan.params['hogs']}-{plan.shifts[0]}-{plan.link or 0}"
            (folder / f"{name}.json").write_text(document(part))
        self.act({key.replace("_", " "): value for key, value in how.items()})

    def act(self, how: Mapping[str, Any]) -> None:
        """From now on."""
        words = {CPU: "a model", QEMU: "7.2.22", KERNEL: "ab" * 32}
        hosts = {f"words n{number}": words for number in range(1, 5)}
        given = {key: hosts.get(key, {}) | value if isinstance(value, dict) else value
                 for key, value in how.items()}  # fmt: skip
        (self.folder / "how.json").write_text(json.dumps(hosts | given))

    @property
    def program(self) -> tuple[str, ...]:
        """For Terms."""
        return (str(self.folder / "toy.py"), str(self.folder))

    def ran(self) -> list[tuple[str, str]]:
        """(host, comparison) in the order of their beginning."""
        rows = (self.folder / "log").read_text().splitlines()
        words = " ".join(rows).split()
        pairs = [(words[n], words[n + 1]) for n in range(len(words) - 1)]
        return [pair for pair in pairs if pair[0].startswith("n")]


def document(part: Part) -> str:
    """The result of a comparison: each run gives RATE, and its hogs more for each arm."""
    plan = part.plan
    (condition,) = conditions(plan)
    table = Collector(plan, condition, {}).table
    for one in table.series:
        value = float(RATE) + 100 * plan.arms.index(one.arm) + plan.params["hogs"]
        if part.layout:
            one.layouts[part.layout] = [value]
        else:
            one.samples = [value] * plan.repeats
            one.perturbed = [float(RATE)] * plan.perturbed
    links = [f"{arm} link {part.layout}" for arm in plan.arms] if part.layout else []
    facts = Facts.model_construct(
        host={"cpu": CPU, "qemu": QEMU, "accel": "tcg", "cpus": "2"},
        kernels=dict.fromkeys((*plan.arms, *links), KERNEL),
        root=ROOT,
        waited_share=0.03,
    )
    from duet.measure.run import plain_facts

    arms = [plain_facts(plan, arm) for arm in plan.arms]
    found = Result.model_construct(facts=facts, arms=arms, counts=counts_of(table))
    return found.model_dump_json()
