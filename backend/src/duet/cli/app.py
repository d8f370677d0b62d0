# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of verbs. A verb's module is imported only when the verb runs or its help is shown.

A verb is a module with a function of the same name. The name has `_` instead of `-`, and a final
`_` if it is a keyword (`try_`). The function's parameters are the verb's options. If the verb has
the option `--json`, the module also has KEYS, the epilog of the verb's help.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, cast, get_args

import typer
from typer.core import TyperGroup

from duet.base import plugins
from duet.base.plugins import Group


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table.

    Args:
        module: dotted name of the module.
        help: the first sentence of the verb's docstring. It has at most 64 characters, so that it
            fits on one line of an 80-column terminal.
        group: the heading of `duet --help` that lists the verb.
    """

    name: str
    module: str
    help: str
    group: Group


CORE = (
    Verb(
        "serve",
        "duet.cli.serve",
        "Serve the page; build missing kernels in the background.",
        "watch",
    ),
    Verb(
        "record",
        "duet.cli.record",
        "Record a run of real kernels into a file that plays anywhere.",
        "watch",
    ),
    Verb("runs", "duet.cli.runs", "List saved live runs; add one, or delete one.", "watch"),
    Verb("replay", "duet.cli.replay", "Play a recording again and print its metrics.", "watch"),
    Verb("inspect", "duet.cli.inspect", "Show what a recording contains, lane by lane.", "watch"),
    Verb(
        "compare",
        "duet.cli.compare",
        "Compare two recordings of a lesson: conditions, then figures.",
        "watch",
    ),
    Verb(
        "export",
        "duet.cli.export",
        "Export a recording as a web page, picture, film or trace.",
        "watch",
    ),
    Verb("xray", "duet.cli.xray", "Read a structure of a running kernel with drgn.", "watch"),
    Verb(
        "microscope",
        "duet.cli.microscope",
        "Count each load and store of kernel functions, by cache line.",
        "watch",
    ),
    Verb("drgn", "duet.cli.drgn", "Open a drgn shell on a running lane.", "watch"),
    Verb("try", "duet.cli.try_", "Compare your patch with the stock kernel on any command.", "try"),
    Verb(
        "check",
        "duet.cli.check",
        "Test your patch under KASAN, lockdep or KCSAN, with stress.",
        "try",
    ),
    Verb("bisect", "duet.cli.bisect", "Find the commit that made a number worse.", "try"),
    Verb(
        "challenge",
        "duet.cli.challenge",
        "List a lesson's challenges, or judge your patch by a challenge.",
        "try",
    ),
    Verb(
        "run",
        "duet.cli.run",
        "Measure a lesson's arms quickly, one guest after another.",
        "measure",
    ),
    Verb(
        "measure",
        "duet.cli.measure",
        "Measure arms against each other, untraced, with verdicts.",
        "measure",
    ),
    Verb(
        "reproduce",
        "duet.cli.reproduce",
        "Run a recording's arms again and check the lesson's claims.",
        "measure",
    ),
    Verb(
        "token",
        "duet.cli.token",
        "Show, create, rotate or revoke the links that let people in.",
        "teach",
    ),
    Verb(
        "new", "duet.cli.new", "Start a lesson from a small template that runs as it is.", "author"
    ),
    Verb(
        "lint",
        "duet.cli.lint",
        "Check lessons: files, views, programs, patches, recordings.",
        "author",
    ),
    Verb(
        "views", "duet.cli.views", "List the views and the names that a lesson may use.", "author"
    ),
    Verb(
        "translate",
        "duet.cli.translate",
        "List the texts of a lesson that lack a current translation.",
        "author",
    ),
    Verb(
        "record-all",
        "duet.cli.record_all",
        "Record stale recordings and measured tables again.",
        "author",
    ),
    Verb(
        "doctor",
        "duet.cli.doctor",
        "Check this machine, with a remedy for everything missing.",
        "operate",
    ),
    Verb(
        "selftest",
        "duet.cli.selftest",
        "Test guests on this host: vCPUs, clock, x-ray, measurement.",
        "operate",
    ),
    Verb("build", "duet.cli.build", "Build the kernels that are missing.", "operate"),
    Verb("host", "duet.cli.host", "Run guests for a server on another machine.", "operate"),
    Verb(
        "backup",
        "duet.cli.backup",
        "Write saved runs, tokens, classes and changes into one file.",
        "operate",
    ),
    Verb(
        "restore",
        "duet.cli.backup",
        "Verify a backup by its hashes, then restore its contents.",
        "operate",
    ),
)


def verbs() -> Iterator[Verb]:
    """Return the core's verbs, then the plug-ins' verbs."""
    yield from CORE
    yield from plugin_verbs()


def plugin_verbs() -> Iterator[Verb]:
    for plugin in plugins.found():
        for name, module, line, group in plugin.verbs:
            yield Verb(name, module, line, group)


def load(verb: Verb) -> Any:
    """Import a verb's module and create its command."""
    module, word = import_module(verb.module), verb.name.replace("-", "_")
    function = getattr(module, word, None) or getattr(module, f"{word}_")
    program = typer.Typer(add_completion=False, rich_markup_mode=None)
    program.command(verb.name, epilog=getattr(module, "KEYS", None))(function)
    return typer.main.get_command(program)


class LazyCommands(Mapping[str, Any]):
    """Mapping of verb names to commands. A command is loaded when its name is looked up."""

    def __init__(self) -> None:
        self._commands: dict[str, Any] = {}

    @cached_property
    def _rows(self) -> dict[str, Verb]:
        return {verb.name: verb for verb in verbs()}

    def __getitem__(self, name: str) -> Any:
        if name not in self._commands:
            self._commands[name] = load(self._rows[name])
        return self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class GroupedVerbs(TyperGroup):
    """Command group whose help lists the verbs under headings.

    The table has each verb's summary, so the help imports no verb.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = list(verbs())
        width = max(len(verb.name) for verb in rows)
        for group in get_args(Group):
            with formatter.section(group.capitalize()):
                formatter.write_dl(
                    [(v.name.ljust(width), v.help) for v in rows if v.group == group]
                )


app = GroupedVerbs(
    name="duet",
    commands=cast(dict[str, Any], LazyCommands()),
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Kernel Duet: two kernels, one workload, one screen.",
    epilog="Exit codes: 0 done, 1 unexpected, 2 input, 3 host, 4 guest kernel, 130 interrupted. "
    'With --json an error is {"error": {"code", "sentence", "remedy", "detail"}} on stdout.',
)
