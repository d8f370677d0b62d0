# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel Duet as a JupyterHub service. The hub's users are the visitors (door.py)."""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.offer(hub="door")
