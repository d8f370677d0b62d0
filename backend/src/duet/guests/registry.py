# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of guest kinds by name. A new kind registers under a unique name."""

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
    """Options that some kinds need in addition to the spec.

    Args:
        policy: accelerator (auto, tcg or kvm); with None, $DUET_ACCEL or auto.
        programs: GuestRoot.programs, for vng.
        templates: templates to copy, for qemu; None to boot every guest.
    """

    policy: str | None = None
    programs: Path | None = None
    templates: Templates | None = None


GuestFactory = Callable[[GuestSpec, GuestOptions], Guest]


class Registry:
    """Guest factories by the name of the kind."""

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
        """Create a guest; `async with` boots it.

        Raises:
            InputError: the kind is unknown.
        """
        factory = self._factories.get(kind)
        if factory is None:
            raise InputError(
                f"`{kind}` is not a kind of guest.",
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
    """Create a guest of a registered kind; `async with` boots it.

    Raises:
        InputError: the kind is unknown.
    """
    return REGISTRY.open(kind, spec, options or GuestOptions())


def default_kind() -> str:
    """Return $DUET_GUEST, or "qemu"."""
    return os.environ.get("DUET_GUEST") or "qemu"
