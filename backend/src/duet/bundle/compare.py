# SPDX-License-Identifier: GPL-2.0-or-later
"""How two recordings differ in what they were made of; this is said before their numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from duet.bundle.manifest import ArmEntry, Manifest, patches_of

Of = Literal["run", "kernel", "config", "patches", "build", "host", "programs"]
ORDER: tuple[Of, ...] = ("run", "kernel", "config", "patches", "build", "host", "programs")
UNSAID = "not said"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same.

    Args:
        arm: whose; "" for what concerns all.
    """

    of: Of
    what: str
    arm: str
    recorded: str
    now: str

    def __str__(self) -> str:
        whose = f" of {self.arm}" if self.arm else ""
        return f"{self.what}{whose}: {self.recorded} in the first, {self.now} in the second"


def differences(one: Manifest, other: Manifest) -> list[Difference]:
    """What differs between two recordings, kernels and config before host and programs."""
    found = [*_run(one, other), *_sides("host", one.host, other.host)]
    found += _sides("programs", one.versions, other.versions)
    for arm in one.arms:
        match = next((entry for entry in other.arms if entry.name == arm.name), None)
        if match is not None:
            found += _arm(arm, match)
    return sorted(found, key=lambda difference: ORDER.index(difference.of))


def _run(one: Manifest, other: Manifest) -> Iterator[Difference]:
    for name in ("lesson", "workload", "clock", "shift", "seed"):
        yield from _pair("run", name, "", getattr(one, name), getattr(other, name))
    yield from _pair("run", "recorded length (ms)", "", one.window_ms, other.window_ms)
    yield from _sides("run", one.params, other.params)
    arms = [", ".join(arm.name for arm in manifest.arms) for manifest in (one, other)]
    yield from _pair("run", "arms", "", *arms)


def _arm(one: ArmEntry, other: ArmEntry) -> Iterator[Difference]:
    name = one.name
    yield from _pair("kernel", "kernel version", name, one.kernel_version, other.kernel_version)
    yield from _pair("config", "config", name, one.config_sha256[:12], other.config_sha256[:12])
    sources = [entry.kernel.get("tarball_sha256", "") for entry in (one, other)]
    yield from _pair("kernel", "source", name, *(str(source)[:12] for source in sources))
    mine, theirs = _patches(one), _patches(other)
    if mine and theirs:
        # One that was moved or renamed is the same patch.
        same = set(map(str, mine.values())) & set(map(str, theirs.values()))
        mine = {path: sha for path, sha in mine.items() if str(sha) not in same}
        theirs = {path: sha for path, sha in theirs.items() if str(sha) not in same}
        yield from _sides("patches", mine, theirs, name)
    yield from _pair("patches", "patches", name, " ".join(one.patches), " ".join(other.patches))
    for tool in ("compiler", "linker"):
        tools = (one.kernel.get(tool, ""), other.kernel.get(tool, ""))
        yield from _pair("build", tool, name, *(str(text) for text in tools))


def _patches(entry: ArmEntry) -> dict[str, JsonValue]:
    """Path -> checksum in short of every patch of a kernel, those of all arms included."""
    return {path: sha[:12] for path, sha in patches_of(entry).items()}


def _sides(
    of: Of, one: Mapping[str, JsonValue], other: Mapping[str, JsonValue], arm: str = ""
) -> Iterator[Difference]:
    for name in dict.fromkeys([*one, *other]):
        yield from _pair(of, name, arm, one.get(name), other.get(name))


def _pair(of: Of, what: str, arm: str, one: object, other: object) -> Iterator[Difference]:
    if one != other:
        yield Difference(of, what, arm, _text(one), _text(other))


def _text(value: object) -> str:
    return UNSAID if value is None or value == "" else str(value)
