# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wanted of a pool, what it answers, and the interface that backends stand behind.

Refusals and losses are data: whoever asked shows the sentence, or plays a recording meanwhile. A
`DuetError` is for what a caller or an operator got wrong.
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
"""Names of hosts, which become words of commands."""
Whose = Literal["host", "pool", "deadline", "cancelled", "released"]


@dataclass(frozen=True, slots=True)
class Want:
    """What a lease is to have.

    Args:
        lanes: places for programs; each runs one program at a time.
        vcpus: CPUs of a host for each lane.
        memory_bytes: for each lane.
        alike: all lanes on hosts of one kind, so that they can be compared.
        exclusive: CPUs that nobody else uses, for measurements. Its lanes are on one host and run
            one after another: CPUs and memory are those of one lane.
        accel: "kvm" only on hosts where guests boot under it.
        within_s: how long somebody waits; 0: now or not at all.
        ttl_s: so long after its beginning the lease ends by itself.
        kind: a name of `Pool.kinds`; "": any.
        avoid: names of hosts that are not taken, such as one that has just failed.
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
        """Raise InputError where this is no want at all."""
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
                    f"{name} of a lease must be from {least:g} to {most:g}, but {given:g} came.",
                    remedy="Ask for less, or for several leases.",
                )
        for name in self.avoid:
            if not HOST.fullmatch(name):
                raise InputError(
                    f"{name!r:.80} is no name of a host.", remedy="Name hosts as the pool does."
                )

    @property
    def lanes_at_once(self) -> int:
        """Lanes whose CPUs and memory are needed at one time."""
        return 1 if self.exclusive else self.lanes


@dataclass(frozen=True, slots=True)
class Refusal:
    """No lease.

    Args:
        sentence: why, for people.
        estimate_s: from now until there may be one, where the pool says so.
    """

    sentence: str
    estimate_s: float | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a lease is over. `whose` says where to look: nothing of this is a guest kernel's doing.

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
        code: its exit code, or minus a signal; None: not known, see `lost`.
        lost: why it ended without its own doing, as a sentence; "" otherwise.
        output: what it wrote to standard output, the last OUTPUT_BYTES of it.
        errors: the same of standard error.
        cut_bytes: what was left out of both.
    """

    code: int | None
    lost: str
    output: bytes
    errors: bytes
    cut_bytes: int

    @property
    def last_line(self) -> str:
        """What it said last of what went wrong; on Kubernetes that is in the output."""
        text = (self.errors or self.output).decode("utf-8", "replace")
        return text.strip().rpartition("\n")[2]


@dataclass(frozen=True, slots=True)
class Kind:
    """Hosts that can be compared with each other.

    Args:
        name: what `Want.kind` takes.
        hosts: their names, of those that are up.
        down: names of those that are not.
    """

    name: str
    hosts: Sequence[str]
    down: Sequence[str] = ()


def ignore(piece: bytes) -> None:
    """Nobody reads along."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a program reports to its lease.

    Args:
        silent: called when no sign of life has come for the time that its `Start` names.
        why_over: looks at the lease when a program ended without its own doing: its loss, or None.
        said: gets each piece of standard error as it comes, where the backend has it then.
    """

    silent: Callable[[], None]
    why_over: Callable[[], Awaitable[Loss | None]]
    said: Callable[[bytes], None] = ignore


class Program(Protocol):
    """A program on a lane of a lease."""

    @property
    def running(self) -> bool:
        """Whether it has begun and not ended."""

    async def begin(self) -> None:
        """Start it; the lease's affair.

        Raises:
            InfraError: it cannot be started.
        """

    async def wait(self) -> Ended:
        """How it ended. The lease's deadline bounds this."""

    async def end(self, lost: str = "") -> None:
        """End it and all that it started: SIGTERM, TERM_S later SIGKILL.

        Args:
            lost: what `Ended.lost` says where it has not ended by itself before.
        """


class Pool(Protocol):
    """Where leases come from. Use as `async with`: at its end all its leases are released.

    Attributes:
        python: the interpreter of this project on its hosts.
    """

    name: str
    python: str

    async def reserve(self, want: Want) -> Lease | Refusal:
        """A lease within `want.within_s`, or why there is none.

        Raises:
            InputError: `want` is out of any bounds.
        """

    async def kinds(self) -> Sequence[Kind] | Refusal:
        """Kinds of hosts."""

    async def __aenter__(self) -> Pool: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


# Which pool an operator has chosen, and how its hosts are named there: $DUET_POOL and others.

POOLS: Final = ("local", "slurm", "kubernetes")
WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
"""Of names that become words of a command or of a manifest: no option, no expression."""
KIND_LABEL: Final = "kernel-duet/kind"
IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """Of the environment.

    Args:
        pool: $DUET_POOL: local (default), slurm or kubernetes.
        partition: $DUET_POOL_PARTITION, of Slurm; "": the cluster's default.
        account: $DUET_POOL_ACCOUNT, of Slurm; "": the user's default.
        kinds: $DUET_POOL_KINDS, with ',': features of Slurm's nodes, or values of the label
            $DUET_POOL_KIND_LABEL of Kubernetes' nodes, that say which hosts can be compared.
        kvm: $DUET_POOL_KVM: the feature of Slurm's nodes, or the resource of a device plugin of
            Kubernetes, where guests boot under KVM; "": nowhere.
        python: $DUET_POOL_PYTHON: the interpreter of the checkout on Slurm's nodes; default: ours,
            for a file system that all share.
        namespace: $DUET_POOL_NAMESPACE, of Kubernetes; "": that of the context.
        image: $DUET_POOL_IMAGE, of Kubernetes.
        claim: $DUET_POOL_CLAIM, of Kubernetes: a persistent volume claim with the cache of kernels.
        kind_label: see `kinds`.
        spread: $DUET_POOL_SPREAD is "lanes": each lane of a live run has a host process of its own,
            on hosts of one kind. Not with local, where all have the same CPUs.
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
        """What is set.

        Raises:
            InputError: a variable is not usable.
        """
        env = os.environ if given is None else given
        pool = env.get("DUET_POOL", "") or "local"
        if pool not in POOLS:
            raise InputError(
                f"DUET_POOL must be {', '.join(POOLS[:-1])} or {POOLS[-1]}, but {pool!r:.40} came.",
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
            f"{given!r:.40} came with {pool}.",
            remedy="Unset it for all lanes of a run on one host.",
        )
    return bool(given)


def _word(env: Mapping[str, str], name: str, form: re.Pattern[str] = WORD) -> str:
    given = env.get(name, "")
    return _checked(name, given, form) if given else ""


def _checked(name: str, given: str, form: re.Pattern[str] = WORD) -> str:
    if not form.fullmatch(given):
        raise InputError(
            f"{name} must be names of letters, digits, '.', '_', '/' and '-', but {given!r:.60}"
            " came.",
            remedy="Take the names that sinfo or kubectl prints.",
        )
    return given
