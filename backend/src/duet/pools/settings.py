# SPDX-License-Identifier: GPL-2.0-or-later
"""Which pool an operator has chosen, and how its hosts are named there: $DUET_POOL and others."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from duet.base.errors import InputError

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
