# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs of the machine: its programs, kernels, the server and who may use it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Base, Json, MaybeLesson, Source
from duet.cli.results.host import (
    BuildResult,
    DoctorResult,
    SelftestResult,
    ServeResult,
    TokenResult,
)
from duet.cli.results.keys import keys_text

DOCTOR_KEYS = keys_text(DoctorResult)
SELFTEST_KEYS = keys_text(SelftestResult)
BUILD_KEYS = keys_text(BuildResult)
SERVE_KEYS = keys_text(ServeResult, when="one line, once it listens")
TOKEN_KEYS = keys_text(TokenResult)


def doctor(
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also boot a guest, copy it, build in a box, time CPUs, disk."),
    ] = False,
    json: Json = False,
) -> int:
    """Check what this machine has and lacks, with a remedy for each.

    With --deep it also tries, in some 20 s: a guest of a kernel that is built and a copy of it,
    its namespaces and budget, a build in a sandbox, how long vCPUs wait, how fast the disk is.
    """
    from duet.cli.doctor import doctor as body

    return body(deep, json)


def selftest(
    lesson: MaybeLesson = None,
    kvm: Annotated[
        bool, typer.Option("--kvm", help="Under KVM, and write the result down.")
    ] = False,
    json: Json = False,
) -> int:
    """Try on real guests what lessons need: vCPUs, clock, x-ray, a measurement.

    LESSON: one whose kernels are built; default: the first such. With --kvm the result is written
    down, and reports of measurements on this host name it.
    """
    from duet.cli.selftesting import selftest as body

    return body(lesson, kvm, json)


def build(
    lesson: MaybeLesson = None,
    source: Source = None,
    base: Base = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="Only this arm; may be repeated.")
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="With debug.config: KASAN, lockdep. For stress only.")
    ] = False,
    optional: Annotated[
        bool, typer.Option("--optional", help="Also the arms that a lesson marks optional.")
    ] = False,
    json: Json = False,
) -> int:
    """Build the kernels that are not there yet.

    With --base and no lesson: that base alone, its source and its own both/.
    Arms that a lesson marks optional are built where --arm or --optional asks for them.
    """
    from duet.cli.build import build as body

    return body(lesson, source, arm or [], json, debug=debug, optional=optional, base=base)


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8642,
    no_build: Annotated[bool, typer.Option("--no-build", help="Build no kernels.")] = False,
    no_guests: Annotated[
        bool, typer.Option("--no-guests", help="Show recordings only; boot and build nothing.")
    ] = False,
    open: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A host name to answer to; repeatable."),
    ] = None,
    token_required: Annotated[
        bool,
        typer.Option("--token-required", help="Let in by links only; made where there are none."),
    ] = False,
    new_tokens: Annotated[
        bool, typer.Option("--new-tokens", help="The same, with new links; the old ones end.")
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", help="What browsers open behind a proxy: https://HOST/PATH/"),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", help="Address or network of a proxy; repeatable."),
    ] = None,
    hub: Annotated[
        bool,
        typer.Option("--hub", help="Let in the users of JupyterHub, of which this is a service."),
    ] = False,
    source: Source = None,
    json: Json = False,
) -> int:
    """Serve the page; missing kernels are built in the background.

    On this machine alone everybody may do everything. Beyond it (--host) a link with a token is
    needed: one each for operator, instructors, students and viewers; see ./duet token.
    """
    from duet.cli.serve import TokenOptions, front_of
    from duet.cli.serve import serve as body

    names = tuple(allow_host or [])
    tokens = TokenOptions(token_required, new_tokens, hub)
    front = front_of(public_url, trusted_proxy)
    return body(host, port, not no_build, not no_guests, open, names, source, json, tokens, front)


def token(
    action: Annotated[
        str, typer.Argument(help="show, create (where none is), rotate (new ones), or revoke.")
    ] = "show",
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="viewer, student, instructor or operator; default: all."),
    ] = None,
    url: Annotated[
        str,
        typer.Option(
            "--url", envvar="DUET_PUBLIC_URL", help="Address of the server, for the links."
        ),
    ] = "http://localhost:8642/",
    json: Json = False,
) -> int:
    """Show, make, replace or take away the links that let people in.

    Tokens are stored as hashes, so a link is printed once. A running server follows at once;
    sessions of a token that is rotated or revoked end within a second.
    """
    from duet.cli.token import token as body

    return body(action, role or [], url, json)


def host(
    join: Annotated[str, typer.Option(help="The server: ws://NAME:PORT/hosts/join, or wss://.")],
    token_file: Annotated[
        Path | None, typer.Option(help="Has the token in its first line; default: standard input.")
    ] = None,
) -> int:
    """Run guests for a server of another machine, which starts this with a token that counts once.

    The server asks for runs, and gets their events while they go on. When the connection breaks,
    nothing is lost; when the server is away for 30 s, this ends its guests and itself.
    """
    from duet.cli.serve import host as body

    return body(join, token_file)
