# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests to a pool, its answers, and the interface of its backends.

Refusals and losses are data: the caller shows the sentence, or plays a recording meanwhile. A
`DuetError` is for mistakes of a caller or an operator.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Protocol

from duet.base.errors import InputError
from duet.plugins.cluster.limits import LANES_MOST, TTL_MOST_S

if TYPE_CHECKING:
    from duet.plugins.cluster.lease import Lease


Accel = Literal["tcg", "kvm"]
HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
"""Names of hosts, which become arguments of commands."""
Whose = Literal["host", "pool", "deadline", "cancelled", "released"]


@dataclass(frozen=True, slots=True)
class Want:
    """Requirements for a lease.

    Args:
        lanes: places for programs; each runs one program at a time.
        vcpus: CPUs of a host for each lane.
        memory_bytes: for each lane.
        alike: all lanes on hosts of one kind, so that they can be compared.
        exclusive: CPUs that nobody else uses, for measurements. Its lanes are on one host and run
            one
            after another: CPUs and memory are those of one lane.
        accel: "kvm" only on hosts where guests boot under it.
        within_s: how long to wait; 0: do not wait.
        ttl_s: the lease ends by itself after this time.
        kind: a name of `Pool.kinds`; "": any.
        avoid: names of hosts not to use, such as one that has just failed.
    """

    lanes: int = 1
    vcpus: int = 1
    memory_bytes: int = 1 << 30
    alike: bool = False
    exclusive: bool = False
    accel: Accel = "tcg"
    within_s: float = 10.0
    ttl_s: float = 900.0
    kind: str = ""
    avoid: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise InputError if a value is out of bounds."""
        bounds = (
            ("lanes", self.lanes, 1, LANES_MOST),
            ("CPUs of a lane", self.vcpus, 1, 1024),
            ("bytes of memory of a lane", self.memory_bytes, 1 << 20, 1 << 50),
            ("seconds of waiting", self.within_s, 0, TTL_MOST_S),
            ("seconds", self.ttl_s, 0.1, TTL_MOST_S),
        )
        for name, given, least, most in bounds:
            if not least <= given <= most:
                raise InputError(
                    f"{name} of a lease must be from {least:g} to {most:g}, but got {given:g}.",
                    remedy="Request less, or several leases.",
                )
        for name in self.avoid:
            if not HOST.fullmatch(name):
                raise InputError(
                    f"{name!r:.80} is no name of a host.", remedy="Name hosts as the pool does."
                )

    @property
    def lanes_at_once(self) -> int:
        """Lanes whose CPUs and memory are needed at the same time."""
        return 1 if self.exclusive else self.lanes


@dataclass(frozen=True, slots=True)
class Refusal:
    """No lease.

    Args:
        sentence: the reason, for people.
        estimate_s: from now until a lease may be granted, if the pool says so.
    """

    sentence: str
    estimate_s: float | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a lease is over. `whose` says where to look; a guest kernel is never the reason.

    Args:
        whose: "host" (a host or the way to it failed), "pool" (its controller), "deadline",
            "cancelled" (somebody else ended it) or "released".
    """

    sentence: str
    whose: Whose


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Args:
        code: its exit code, or minus a signal; None: unknown, see `lost`.
        lost: why it was ended from outside, as a sentence; "" otherwise.
        output: the last OUTPUT_BYTES of its standard output.
        errors: the same of standard error.
        cut_bytes: dropped bytes of both.
    """

    code: int | None
    lost: str
    output: bytes
    errors: bytes
    cut_bytes: int

    @property
    def last_line(self) -> str:
        """Its last error line; on Kubernetes errors are in the output."""
        text = (self.errors or self.output).decode("utf-8", "replace")
        return text.strip().rpartition("\n")[2]


@dataclass(frozen=True, slots=True)
class Kind:
    """Hosts that can be compared with each other.

    Args:
        name: for `Want.kind`.
        hosts: names of hosts that are up.
        down: names of those that are down.
    """

    name: str
    hosts: Sequence[str]
    down: Sequence[str] = ()


def ignore(piece: bytes) -> None:
    """Drop a piece of output."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Callbacks of a program to its lease.

    Args:
        silent: called when no heartbeat has come for the time that its `Start` sets.
        why_over: called when a program ended unexpectedly; returns the lease's loss, or None.
        said: gets each piece of standard error as it comes, if the backend has it by then.
    """

    silent: Callable[[], None]
    why_over: Callable[[], Awaitable[Loss | None]]
    said: Callable[[bytes], None] = ignore


class Program(Protocol):
    """A program on a lane of a lease."""

    @property
    def running(self) -> bool:
        """Has it begun and not ended?"""

    async def begin(self) -> None:
        """Start it; called by the lease.

        Raises:
            InfraError: it cannot be started.
        """

    async def wait(self) -> Ended:
        """Wait for its end. The lease's deadline bounds this."""

    async def end(self, lost: str = "") -> None:
        """End it and all that it started: SIGTERM, TERM_S later SIGKILL.

        Args:
            lost: for `Ended.lost`, if it has not ended by itself before.
        """


class Pool(Protocol):
    """A source of leases. Use as `async with`; at exit all its leases are released.

    Attributes:
        python: the interpreter of this project on its hosts.
    """

    name: str
    python: str

    async def reserve(self, want: Want) -> Lease | Refusal:
        """Return a lease within `want.within_s`, or the reason why there is none.

        Raises:
            InputError: `want` is out of bounds.
        """

    async def kinds(self) -> Sequence[Kind] | Refusal: ...

    async def __aenter__(self) -> Pool: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


# The operator's pool and its settings: $DUET_POOL and others.

POOLS: Final = ("local", "slurm", "kubernetes")
WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
"""Names that become arguments of a command or parts of a manifest: no option, no expression."""
KIND_LABEL: Final = "kernel-duet/kind"
IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """Settings from the environment.

    Args:
        pool: $DUET_POOL: local (default), slurm or kubernetes.
        partition: $DUET_POOL_PARTITION, for Slurm; "": the cluster's default.
        account: $DUET_POOL_ACCOUNT, for Slurm; "": the user's default.
        kinds: $DUET_POOL_KINDS, separated by ',': features of Slurm's nodes, or values of the label
            $DUET_POOL_KIND_LABEL of Kubernetes' nodes, that say which hosts can be compared.
        kvm: $DUET_POOL_KVM: the feature of Slurm's nodes, or the resource of a device plugin of
            Kubernetes, where guests boot under KVM; "": nowhere.
        python: $DUET_POOL_PYTHON: the interpreter of the checkout on Slurm's nodes; default: ours,
            for
            a shared file system.
        namespace: $DUET_POOL_NAMESPACE, for Kubernetes; "": that of the context.
        image: $DUET_POOL_IMAGE, for Kubernetes.
        claim: $DUET_POOL_CLAIM, for Kubernetes: a persistent volume claim with the cache of
            kernels.
        kind_label: as in `kinds`.
        spread: $DUET_POOL_SPREAD is "lanes": each lane of a live run has a host process of its own,
            on
            hosts of one kind. Not with local, where all share the same CPUs.
    """

    pool: str = "local"
    partition: str = ""
    account: str = ""
    kinds: tuple[str, ...] = ()
    kvm: str = ""
    python: str = sys.executable
    namespace: str = ""
    image: str = ""
    claim: str = ""
    kind_label: str = KIND_LABEL
    spread: bool = False

    @classmethod
    def from_environment(cls, given: Mapping[str, str] | None = None) -> PoolSettings:
        """Read the variables.

        Raises:
            InputError: a variable is invalid.
        """
        env = os.environ if given is None else given
        pool = env.get("DUET_POOL", "") or "local"
        if pool not in POOLS:
            raise InputError(
                f"DUET_POOL must be {', '.join(POOLS[:-1])} or {POOLS[-1]}, but is {pool!r:.40}.",
                remedy="Unset it for local.",
            )
        kinds = env.get("DUET_POOL_KINDS", "").split(",")
        return cls(
            pool,
            _word(env, "DUET_POOL_PARTITION"),
            _word(env, "DUET_POOL_ACCOUNT"),
            tuple(_checked("DUET_POOL_KINDS", kind.strip()) for kind in kinds if kind.strip()),
            _word(env, "DUET_POOL_KVM"),
            env.get("DUET_POOL_PYTHON", "") or sys.executable,
            _word(env, "DUET_POOL_NAMESPACE"),
            _word(env, "DUET_POOL_IMAGE", IMAGE),
            _word(env, "DUET_POOL_CLAIM"),
            _word(env, "DUET_POOL_KIND_LABEL") or KIND_LABEL,
            _spread(env.get("DUET_POOL_SPREAD", ""), pool),
        )


def _spread(given: str, pool: str) -> bool:
    if given not in ("", "lanes") or (given and pool == "local"):
        raise InputError(
            "DUET_POOL_SPREAD must be unset, or 'lanes' with slurm or kubernetes, but "
            f"is {given!r:.40} with {pool}.",
            remedy="Unset it for all lanes of a run on one host.",
        )
    return bool(given)


def _word(env: Mapping[str, str], name: str, form: re.Pattern[str] = WORD) -> str:
    given = env.get(name, "")
    return _checked(name, given, form) if given else ""


def _checked(name: str, given: str, form: re.Pattern[str] = WORD) -> str:
    if not form.fullmatch(given):
        raise InputError(
            f"{name} must be names of letters, digits, '.', '_', '/' and '-', but is "
            f"{given!r:.60}.",
            remedy="Use the names that sinfo or kubectl prints.",
        )
    return given
