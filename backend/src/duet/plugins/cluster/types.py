# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests to a pool, the pool's answers, and the interface of its backends.

Refusals and losses are returned, not raised, because the caller shows their sentence, or plays a
recording instead. A `DuetError` reports a mistake of a caller or an operator.
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
"""Pattern of allowed host names, because host names become arguments of commands."""
Whose = Literal["host", "pool", "deadline", "cancelled", "released"]


@dataclass(frozen=True, slots=True)
class Want:
    """Requirements for a lease.

    Args:
        lanes: number of places for programs. Each lane runs one program at a time.
        vcpus: number of CPUs for each lane.
        memory_bytes: memory for each lane.
        alike: whether all lanes must be on hosts of one kind, so that their results can be
            compared.
        exclusive: whether the lease gets CPUs that nobody else uses, for measurements. The lanes of
            such a lease are on one host and run one after another, so the lease needs the CPUs and
            memory of only one lane.
        accel: "kvm" requests hosts where guests boot under KVM.
        within_s: how long to wait for the lease. 0 means no wait.
        ttl_s: time after which the lease ends by itself.
        kind: the name of one of `Pool.kinds()`. "" means any kind.
        avoid: names of hosts to avoid, such as a host that has just failed.
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
                    remedy="Request less, or reserve several leases.",
                )
        for name in self.avoid:
            if not HOST.fullmatch(name):
                raise InputError(
                    f"{name!r:.80} is not a host name.",
                    remedy="Use the names that the pool gives its hosts.",
                )

    @property
    def lanes_at_once(self) -> int:
        """Return the number of lanes whose CPUs and memory are needed at the same time."""
        return 1 if self.exclusive else self.lanes


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a pool gives no lease.

    Args:
        sentence: the reason, for people.
        estimate_s: seconds until a lease may be granted. None if the pool does not know.
    """

    sentence: str
    estimate_s: float | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a lease is over. A guest kernel is never the reason.

    Args:
        whose: what caused the end: "host" (a host or the connection to it failed), "pool" (the
            pool's controller failed), "deadline" (the lease's time was over), "cancelled" (somebody
            else ended the lease) or "released" (we ended the lease).
    """

    sentence: str
    whose: Whose


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Args:
        code: its exit code, or the negative number of the signal that killed it. If it is None,
            `lost` says why.
        lost: a sentence that says why the program was ended from outside. "" if it ended by itself.
        output: the last OUTPUT_BYTES of its standard output.
        errors: the last OUTPUT_BYTES of its standard error.
        cut_bytes: number of bytes that were dropped from output and errors together.
    """

    code: int | None
    lost: str
    output: bytes
    errors: bytes
    cut_bytes: int

    @property
    def last_line(self) -> str:
        """Return the program's last error line. On Kubernetes, errors are part of the output."""
        text = (self.errors or self.output).decode("utf-8", "replace")
        return text.strip().rpartition("\n")[2]


@dataclass(frozen=True, slots=True)
class Kind:
    """Hosts that can be compared with each other.

    Args:
        name: the name to use in `Want.kind`.
        hosts: names of hosts that are up.
        down: names of hosts that are down.
    """

    name: str
    hosts: Sequence[str]
    down: Sequence[str] = ()


def ignore(piece: bytes) -> None:
    """Ignore a piece of output."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Callbacks from a program to its lease.

    Args:
        silent: called when no heartbeat has come for the time that the program's `Start` sets.
        why_over: called when the program ended unexpectedly. Returns the lease's loss, or None.
        said: called with each piece of standard error as it arrives. Some backends never call
            `said`.
    """

    silent: Callable[[], None]
    why_over: Callable[[], Awaitable[Loss | None]]
    said: Callable[[bytes], None] = ignore


class Program(Protocol):
    """A program on a lane of a lease."""

    @property
    def running(self) -> bool:
        """Has the program begun, and not yet ended?"""

    async def begin(self) -> None:
        """Start the program. Only the lease calls this.

        Raises:
            InfraError: the program cannot be started.
        """

    async def wait(self) -> Ended:
        """Wait for the program's end, at most until the lease's deadline."""

    async def end(self, lost: str = "") -> None:
        """Send SIGTERM to the program and all its child processes, and SIGKILL after TERM_S.

        Args:
            lost: becomes `Ended.lost`, unless the program has already ended by itself.
        """


class Pool(Protocol):
    """A source of leases. Use with `async with`: leaving the block releases all leases of the pool.

    Attributes:
        python: this project's interpreter on the pool's hosts.
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
"""Patterns of allowed names. Names become arguments of a command or parts of a manifest, so they
must not look like an option or an expression.
"""
KIND_LABEL: Final = "kernel-duet/kind"
IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """The operator's settings for the pool, from the environment.

    Args:
        pool: $DUET_POOL: local (default), slurm or kubernetes.
        partition: $DUET_POOL_PARTITION, for Slurm. "" means the cluster's default.
        account: $DUET_POOL_ACCOUNT, for Slurm. "" means the user's default.
        kinds: $DUET_POOL_KINDS, separated by ','. Hosts of one kind can be compared. A kind is a
            feature of Slurm nodes, or a value of the label $DUET_POOL_KIND_LABEL of Kubernetes
            nodes.
        kvm: $DUET_POOL_KVM: a feature of Slurm nodes, or the resource of a Kubernetes device
            plugin. Guests boot under KVM only on nodes that have this feature or resource. ""
            means on no node.
        python: $DUET_POOL_PYTHON: the checkout's interpreter on Slurm's nodes. The default is the
            path of this server's interpreter, which suits a shared file system.
        namespace: $DUET_POOL_NAMESPACE, for Kubernetes. "" means the context's namespace.
        image: $DUET_POOL_IMAGE, for Kubernetes.
        claim: $DUET_POOL_CLAIM, for Kubernetes: a persistent volume claim that holds the kernel
            cache.
        kind_label: $DUET_POOL_KIND_LABEL, for Kubernetes. See `kinds`.
        spread: true if $DUET_POOL_SPREAD is "lanes". Then each lane of a live run has a host
            process of its own, on hosts of one kind. A local pool does not allow this, because all
            its host processes would share the same CPUs.
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
        """Read the settings from the environment's variables.

        Raises:
            InputError: a variable is invalid.
        """
        env = os.environ if given is None else given
        pool = env.get("DUET_POOL", "") or "local"
        if pool not in POOLS:
            raise InputError(
                f"DUET_POOL must be {', '.join(POOLS[:-1])} or {POOLS[-1]}, but is {pool!r:.40}.",
                remedy="Unset DUET_POOL to use the local pool.",
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
            remedy="Unset DUET_POOL_SPREAD to place all lanes of a run on one host.",
        )
    return bool(given)


def _word(env: Mapping[str, str], name: str, form: re.Pattern[str] = WORD) -> str:
    given = env.get(name, "")
    return _checked(name, given, form) if given else ""


def _checked(name: str, given: str, form: re.Pattern[str] = WORD) -> str:
    if not form.fullmatch(given):
        most, marks = (255, "'.', '_', '/', ':', '@'") if form is IMAGE else (128, "'.', '_', '/'")
        raise InputError(
            f"{name} must be at most {most} letters, digits, {marks} or '-', and begin with a "
            f"letter or digit, but is {given!r:.60}.",
            remedy="Use the names that sinfo or kubectl prints.",
        )
    return given
