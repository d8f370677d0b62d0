# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of guests by name. A new kind registers itself; a name can be taken only once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import InputError
from duet.guests.boot import policy_from_env
from duet.guests.clones.guest import CloneableGuest
from duet.guests.clones.store import Templates
from duet.guests.qemu import QemuGuest
from duet.guests.types import Guest, GuestSpec
from duet.guests.vng import VngGuest


@dataclass(frozen=True, slots=True)
class GuestOptions:
    """What some kinds need besides the spec.

    Args:
        policy: accelerator: auto, tcg, kvm; None is $DUET_ACCEL or auto.
        programs: GuestRoot.programs, for vng.
        templates: of parked guests, for qemu; None: every guest boots.
    """

    policy: str | None = None
    programs: Path | None = None
    templates: Templates | None = None


GuestFactory = Callable[[GuestSpec, GuestOptions], Guest]


class Registry:
    """Name of a kind -> how to make one."""

    def __init__(self) -> None:
        self._factories: dict[str, GuestFactory] = {}

    def register(self, kind: str, factory: GuestFactory) -> None:
        """Add a kind.

        Raises:
            ValueError: the name is taken.
        """
        if kind in self._factories:
            raise ValueError(f"guest kind `{kind}` is registered twice")
        self._factories[kind] = factory

    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted(self._factories))

    def open(self, kind: str, spec: GuestSpec, options: GuestOptions) -> Guest:
        """A guest, not yet booted; enter it with `async with`.

        Raises:
            InputError: no such kind.
        """
        factory = self._factories.get(kind)
        if factory is None:
            raise InputError(
                f"there is no kind of guest called `{kind}`.",
                remedy=f"Use one of: {', '.join(self.kinds())}.",
            )
        return factory(spec, options)


def _policy(options: GuestOptions) -> str:
    return policy_from_env() if options.policy is None else options.policy


def _qemu(spec: GuestSpec, options: GuestOptions) -> Guest:
    if options.templates is not None:
        return CloneableGuest(spec, _policy(options), options.templates)
    return QemuGuest(spec, _policy(options))


def _vng(spec: GuestSpec, options: GuestOptions) -> Guest:
    if options.programs is None:
        raise ValueError("a vng guest needs options.programs (see root.ensure_root)")
    return VngGuest(spec, options.programs, _policy(options))


REGISTRY = Registry()
REGISTRY.register("qemu", _qemu)
REGISTRY.register("vng", _vng)


def open_guest(kind: str, spec: GuestSpec, options: GuestOptions | None = None) -> Guest:
    """A guest of a registered kind, not yet booted. See Registry.open()."""
    return REGISTRY.open(kind, spec, options or GuestOptions())


def default_kind() -> str:
    """$DUET_GUEST, or qemu."""
    return os.environ.get("DUET_GUEST") or "qemu"
