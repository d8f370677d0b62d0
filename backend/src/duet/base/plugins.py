# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the plug-ins and what they offer.

A plug-in is a folder of `duet/plugins` whose `__init__.py` has `register(core)` and, where it
cannot do without another one, `REQUIRES`. It names a module for each extension point; that module
is imported when somebody first asks for the point, so a plug-in costs nothing until it is used.
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
"""What a plug-in may add, and what the named module then has:

messages: subclasses of ServerMessage and Command (messages/base.py); they are in the contract.
bodies: `HTTP`, the models that its routes answer, for the contract.
tables: tables of METADATA (store/tables.py); their revisions are in the folder `migrations`.
service: `service(core)`, its part of a server (server/services.py).
rules: `problems(slug)` and `BESIDE` for `duet lint` (lint/lessons.py).
stage: `stage(settings, url)` and `dialled(url)`: live runs on other machines (server/wiring.py).
pool: `check`, `measure_on_pool` and `check_hosts` for `duet measure` (cli/measure/pooling.py).
grants: `grants()` and `UNGUARDED`, for sessions that begin without a token (cli/serve.py).
hub: `admission(front)`, for a server that is a service of a hub (cli/serve.py).
classrooms: `classrooms(store, live, days)`, classes that another plug-in keeps elsewhere.
"""


Group = Literal["watch", "try", "measure", "teach", "author", "operate"]
"""Headings of `duet --help`, in its order."""


class Registry:
    """What one plug-in offers."""

    def __init__(self, name: str, requires: tuple[str, ...]) -> None:
        self.name = name
        self.requires = requires
        self.modules: dict[Point, str] = {}
        self.verbs: list[tuple[str, str, str, Group]] = []

    def offer(self, **modules: str) -> None:
        """Name the module for each extension point, relative to the plug-in's folder.

        Raises:
            ValueError: there is no such extension point.
        """
        for point, module in modules.items():
            if point not in get_args(Point):
                raise ValueError(f"{self.name} offers {point}, which is no extension point")
            self.modules[cast(Point, point)] = f"{PACKAGE}.{self.name}.{module}"

    def verb(self, name: str, module: str, line: str, group: Group) -> None:
        """Add a verb of `duet` (cli/app.py).

        Args:
            module: imported when the verb is called.
            line: the first sentence of its help; at most 64 characters.
            group: the heading of `duet --help` that lists the verb.
        """
        self.verbs.append((name, f"{PACKAGE}.{self.name}.{module}", line, group))


@cache
def found() -> tuple[Registry, ...]:
    """All plug-ins that have what they require: each one after those, else by name."""
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
    """The modules that plug-ins have for an extension point."""
    named = [one.modules[point] for one in found() if point in one.modules]
    return tuple(importlib.import_module(name) for name in named)
