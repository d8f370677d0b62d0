# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of verbs; the module of a verb is imported when the verb is called, or asked for help.

A verb is a module with a function of its name (`try_` where the name is a keyword, `_` for `-`),
whose parameters are its options, and KEYS, the epilog of its help, where it takes `--json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperGroup

from duet.base import plugins


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table.

    Args:
        name: what is typed.
        module: dotted.
        help: the first sentence of its docstring.
    """

    name: str
    module: str
    help: str


OURS = (
    Verb(
        "doctor",
        "duet.cli.doctor",
        "Check what this machine has and lacks, with a remedy for each.",
    ),
    Verb(
        "selftest",
        "duet.cli.selftest",
        "Try on real guests what lessons need: vCPUs, clock, x-ray, a measurement.",
    ),
    Verb("build", "duet.cli.build", "Build the kernels that are not there yet."),
    Verb("serve", "duet.cli.serve", "Serve the page; missing kernels are built in the background."),
    Verb(
        "token",
        "duet.cli.token",
        "Show, make, replace or take away the links that let people in.",
    ),
    Verb(
        "backup",
        "duet.cli.backup",
        "Write saved runs, tokens, classes and visitors' changes into one file; the server "
        "may run.",
    ),
    Verb(
        "restore",
        "duet.cli.backup",
        "Check a backup by its hashes, then bring back what is in it.",
    ),
    Verb("run", "duet.cli.run", "Measure the arms of a lesson, one guest after another."),
    Verb(
        "measure",
        "duet.cli.measure",
        "Measure arms against each other, untraced, and say what that proves.",
    ),
    Verb(
        "record",
        "duet.cli.record",
        "Record a run of real kernels, one lane after another, as a bundle that plays anywhere.",
    ),
    Verb(
        "try",
        "duet.cli.try_",
        "Set your patch beside stock, on any command: build, record, measure, without a lesson.",
    ),
    Verb(
        "bisect",
        "duet.cli.bisect",
        "Find the commit that made a number worse; the same call goes on after an interruption.",
    ),
    Verb(
        "check",
        "duet.cli.check",
        "Run your patch under KASAN, lockdep and debug objects, with what exercises its files.",
    ),
    Verb(
        "challenge",
        "duet.cli.challenge",
        "List a lesson's challenges, or judge your patch: claims on the count clock, and stress.",
    ),
    Verb(
        "record-all",
        "duet.cli.record_all",
        "Make stale recordings and recorded tables anew, each by the parameters that it has.",
    ),
    Verb(
        "runs",
        "duet.cli.runs",
        "List the live runs that are saved; the page plays them, and other verbs take their names.",
    ),
    Verb(
        "inspect",
        "duet.cli.inspect",
        "Say what a recording holds: manifest, lanes, events, samples, losses, bytes an event.",
    ),
    Verb(
        "replay",
        "duet.cli.replay",
        "Play a recording through the path of a live run, and print the metrics that it gives.",
    ),
    Verb(
        "microscope",
        "duet.cli.microscope",
        "Count every load and store that kernel functions make, by cache line, field and function.",
    ),
    Verb(
        "export",
        "duet.cli.export",
        "Write a recording as a page of its own, as pictures, or for other programs.",
    ),
    Verb(
        "compare",
        "duet.cli.compare",
        "Compare two recordings of a lesson: what they differ in, then their figures by arm.",
    ),
    Verb(
        "reproduce",
        "duet.cli.reproduce",
        "Run a recording's arms again, say what differs, and whether the lesson's claims hold.",
    ),
    Verb(
        "xray",
        "duet.cli.xray",
        "Boot an arm, run the workload, and read a structure of its kernel with drgn meanwhile.",
    ),
    Verb(
        "drgn",
        "duet.cli.drgn",
        "Open drgn's own shell on a lane that runs (of `duet serve`, `run`, `xray`).",
    ),
    Verb("new", "duet.cli.new", "Start a lesson: a copy of a small one that runs as it is."),
    Verb(
        "lint",
        "duet.cli.lint",
        "Check lessons: schema, names of their views, programs, probes, patches, prose, "
        "recordings.",
    ),
    Verb(
        "views",
        "duet.cli.views",
        "List the views: what each draws and needs, and the names that a lesson may use.",
    ),
    Verb(
        "host",
        "duet.cli.host",
        "Run guests for a server of another machine, which starts this with a token that "
        "counts once.",
    ),
)


def verbs() -> Iterator[Verb]:
    """All rows, in the order of the help: ours, then those that plug-ins add."""
    yield from OURS
    yield from added()


def added() -> Iterator[Verb]:
    """Rows of plug-ins."""
    for plugin in plugins.found():
        for name, module, line in plugin.verbs:
            yield Verb(name, module, line)


def load(verb: Verb) -> Any:
    """The command of a row, whose module is imported now."""
    module, word = import_module(verb.module), verb.name.replace("-", "_")
    found = getattr(module, word, None) or getattr(module, f"{word}_")
    one = typer.Typer(add_completion=False, rich_markup_mode=None)
    one.command(verb.name, epilog=getattr(module, "KEYS", None))(found)
    return typer.main.get_command(one)


class Loaded(Mapping[str, Any]):
    """Commands by name, each of which is loaded when it is looked up."""

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


class Verbs(TyperGroup):
    """Lists verbs with their whole first sentence, from the table alone."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """See click.Group; a sentence that is longer than a line goes on below."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb.name, verb.help) for verb in verbs()])


app = Verbs(
    name="duet",
    commands=cast(dict[str, Any], Loaded()),
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Kernel Duet: two kernels, one workload, one screen.",
    epilog="Exit codes: 0 done, 1 unexpected, 2 input, 3 host, 4 guest kernel, 130 interrupted. "
    'With --json an error is {"error": {"code", "sentence", "remedy", "detail"}} on stdout.',
)
