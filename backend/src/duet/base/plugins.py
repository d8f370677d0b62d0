# SPDX-License-Identifier: GPL-2.0-or-later
"""Discovery of plug-ins and of the extension points that they implement.

A plug-in is a folder in `duet/plugins`. Its `__init__.py` defines `register(core)` and, if the
plug-in depends on other plug-ins, `REQUIRES`. The plug-in names a module for each extension point.
The module is imported when the point is first used, so an unused plug-in costs nothing.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from functools import cache
from types import ModuleType
from typing import Literal, cast, get_args

PACKAGE = "duet.plugins"
log = logging.getLogger("duet.plugins")

Point = Literal[
    "messages",
    "bodies",
    "tables",
    "service",
    "rules",
    "stage",
    "pool",
    "grants",
    "hub",
    "classrooms",
]
"""Extension points, and what a plug-in's module for each point must contain:

messages: subclasses of ServerMessage and Command (messages/base.py); they are in the contract.
bodies: `HTTP`, which has the response models of its routes, for the contract.
tables: tables to add to METADATA (store/tables.py); the folder `migrations` has their revisions.
service: `service(core)`, the plug-in's part of a server (server/services.py).
rules: `problems(slug)` and `BESIDE` for `duet lint` (lint/lessons.py).
stage: `stage(settings, url)`, `dialled(url)` for live runs on other machines (server/wiring.py).
pool: `check`, `measure_on_pool` and `check_hosts` for `duet measure` (cli/measure/pooling.py).
grants: `grants()` and `UNGUARDED`, for sessions that begin without a token (cli/serve.py).
hub: `admission(front)`, for a server that is a JupyterHub service (cli/serve.py).
classrooms: `classrooms(store, live, days)`, for classes that another plug-in stores elsewhere.
"""


Group = Literal["watch", "try", "measure", "teach", "author", "operate"]
"""Headings in `duet --help`, in the order in which they appear."""


class Registry:
    """Extension points and verbs of one plug-in."""

    def __init__(self, name: str, requires: tuple[str, ...]) -> None:
        self.name = name
        self.requires = requires
        self.modules: dict[Point, str] = {}
        self.verbs: list[tuple[str, str, str, Group]] = []

    def offer(self, **modules: str) -> None:
        """Register a module for each extension point, relative to the plug-in's folder.

        Raises:
            ValueError: the extension point is unknown.
        """
        for point, module in modules.items():
            if point not in get_args(Point):
                raise ValueError(f"{self.name} offers {point}, which is not an extension point")
            self.modules[cast(Point, point)] = f"{PACKAGE}.{self.name}.{module}"

    def verb(self, name: str, module: str, line: str, group: Group) -> None:
        """Add a verb of `duet` (cli/app.py).

        Args:
            module: imported when the verb is called.
            line: the first sentence of its help; at most 64 characters.
            group: the heading in `duet --help` under which the verb is listed.
        """
        self.verbs.append((name, f"{PACKAGE}.{self.name}.{module}", line, group))


@cache
def found() -> tuple[Registry, ...]:
    """Return all plug-ins whose requirements are met, each after the plug-ins that it requires.

    Plug-ins that do not require each other are sorted by name. A plug-in that lacks a
    requirement is logged and left out.
    """
    every = {}
    for info in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__):
        module = importlib.import_module(f"{PACKAGE}.{info.name}")
        every[info.name] = Registry(info.name, getattr(module, "REQUIRES", ()))
        module.register(every[info.name])
    usable: dict[str, Registry] = {}
    while ready := [
        one
        for name, one in sorted(every.items())
        if name not in usable and all(other in usable for other in one.requires)
    ]:
        usable |= {one.name: one for one in ready}
    for one in every.values():
        if one.name not in usable:
            log.warning(
                "the plug-in %s is left out: it needs %s", one.name, " and ".join(one.requires)
            )
    return tuple(usable.values())


@cache
def offered(point: Point) -> tuple[ModuleType, ...]:
    """Import and return the modules of all plug-ins for an extension point."""
    named = [one.modules[point] for one in found() if point in one.modules]
    return tuple(importlib.import_module(name) for name in named)
