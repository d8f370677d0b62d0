# SPDX-License-Identifier: GPL-2.0-or-later
"""What verbs about the host, kernels and the server print with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `duet doctor` looked at."""

    name: str
    status: str = key(shape="ok|warning|missing")
    found: str = key()
    needed_for: str = key()
    remedy: str = key()


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """Of `duet doctor`."""

    ok: bool = key("bool")
    checks: Sequence[Check] = key()


@dataclass(frozen=True, slots=True)
class SelftestStep:
    """One thing that `duet selftest` tried."""

    name: str
    ok: bool = key("bool")
    found: str = key()
    seconds: float = key()
    remedy: str = key()


@dataclass(frozen=True, slots=True)
class SelftestResult:
    """Of `duet selftest`."""

    ok: bool = key("bool")
    accel: str = key("kvm, or auto: what the host gives")
    qemu: str = key()
    lesson: str = key()
    host: Mapping[str, str] = key(shape="{name: text}")
    steps: Sequence[SelftestStep] = key()
    file: str = key("where the result of --kvm was written")


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """One kernel of `duet build`."""

    lesson: str
    arm: str
    key: str
    folder: str
    kernel_version: str
    built: bool


@dataclass(frozen=True, slots=True)
class BuildResult:
    """Of `duet build`."""

    built: int = key("int")
    seconds: float = key()
    kernels: Sequence[BuiltKernel] = key()


@dataclass(frozen=True, slots=True)
class ServeResult:
    """Of `duet serve`, once it listens."""

    url: str
    host: str
    port: int
    pid: int
    tokens: bool = key("bool: one is needed")
    links: Mapping[Any, str] = key("those made now", "{role: url}")


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token as `duet token` lists it; never its text."""

    role: str
    id: str
    created: str


@dataclass(frozen=True, slots=True)
class TokenResult:
    """Of `duet token`."""

    file: str
    tokens: Sequence[TokenEntry]
    links: Mapping[Any, str] = key("those made now", "{role: url}")
    revoked: Sequence[str] = key(shape="[role]")


@dataclass(frozen=True, slots=True)
class BackupResult:
    """Of `duet backup` and `duet restore`."""

    file: str
    made_at: str = key("ISO 8601 UTC")
    version: str = key("of the Kernel Duet that made it")
    files: Mapping[Any, int] = key(shape="{run|owner|tokens|classes|change: n}")
    bytes: int = key("of all files")
