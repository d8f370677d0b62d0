# SPDX-License-Identifier: GPL-2.0-or-later
"""As a service of JupyterHub: its users are the visitors. See door.py."""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    """Name what this plug-in has."""
    core.offer(hub="door")
