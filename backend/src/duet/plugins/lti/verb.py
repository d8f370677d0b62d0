# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lti`: what platforms are given, which are registered, and our keys."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit
from duet.plugins.lti.limits import FORMER_KEY_S

if TYPE_CHECKING:
    from duet.plugins.lti.platforms import ToolKey


@dataclass(frozen=True, slots=True)
class LtiPlatform:
    """A registered platform."""

    name: str
    issuer: str
    client_id: str
    deployments: Sequence[str] = key("empty: all", shape="[id]")


@dataclass(frozen=True, slots=True)
class LtiKey:
    """A key of ours; never its private part."""

    kid: str
    made_at: str = key("ISO 8601 UTC")
    signs: bool = key("bool")
    shown_until: str = key("ISO 8601 UTC; empty: it signs")


@dataclass(frozen=True, slots=True)
class LtiResult:
    """Of `duet lti`."""

    login_url: str = key("for platforms, as the next four")
    launch_url: str = key()
    choose_url: str = key("of the list of lessons and labs")
    keys_url: str = key()
    platforms_file: str = key("empty: none is named")
    platforms: Sequence[LtiPlatform] = key()
    keys_file: str = key()
    keys: Sequence[LtiKey] = key()


KEYS = keys_text(LtiResult)


def lti(
    action: Annotated[
        str, typer.Argument(help="platforms (what each is given), or keys (those that sign).")
    ] = "platforms",
    rotate: Annotated[
        bool, typer.Option("--rotate", help="keys: a new key signs from now on.")
    ] = False,
    url: Annotated[
        str, typer.Option("--url", envvar="DUET_PUBLIC_URL", help="Address of the server.")
    ] = "http://localhost:8642/",
    as_json: Json = False,
) -> int:
    """Show what a learning platform (Moodle, Canvas) must be given, or the keys for it.

    $DUET_LTI names the file of platforms. A key that was replaced stays in the key set for 7 days.
    A running server follows a rotation at once, and a change of the platforms when it is started.
    """
    from duet.api.front import PublicUrl

    if action not in ACTIONS:
        raise InputError(
            f"'{action:.40}' is no action of ./duet lti.",
            remedy=f"Choose from: {', '.join(ACTIONS)}.",
        )
    if rotate and action != "keys":
        raise InputError("--rotate is about keys.", remedy="Run: ./duet lti keys --rotate")
    result = made(rotate, str(PublicUrl.parse(url)).rstrip("/"))
    if as_json:
        emit(result)
    elif action == "keys":
        print(f"Keys in {result.keys_file}:")
        for one in result.keys:
            state = "signs" if one.signs else f"in the key set until {one.shown_until}"
            print(f"  {one.kid}  made {one.made_at}  {state}")
    else:
        print_platforms(result)
    return 0


ACTIONS = ("platforms", "keys")


def made(rotate: bool, base: str) -> LtiResult:
    """What the verb says.

    Raises:
        InputError: a file is not usable.
        InfraError: keys cannot be stored.
    """
    from duet.plugins.lti.platforms import KeyFile, load_platforms, platforms_file
    from duet.plugins.lti.routes import CHOOSE, LAUNCH, LOGIN
    from duet.plugins.lti.routes import KEYS as KEY_SET

    path, file = platforms_file(), KeyFile.default()
    known = load_platforms(path).platforms if path else ()
    keys = file.rotate() if rotate else file.load()
    key_set = keys.key_set(time.time())["keys"]
    shown = {jwk["kid"] for jwk in key_set}
    return LtiResult(
        f"{base}{LOGIN}",
        f"{base}{LAUNCH}",
        f"{base}{LAUNCH}?{CHOOSE}",
        f"{base}{KEY_SET}",
        str(path or ""),
        [LtiPlatform(p.name, p.issuer, p.client_id, list(p.deployments or ())) for p in known],
        str(file.path),
        [key_line(one) for one in keys.content.keys if one.kid in shown],
    )


def key_line(one: ToolKey) -> LtiKey:
    """A key in the list."""
    until = "" if one.replaced_s is None else moment(one.replaced_s + FORMER_KEY_S)
    return LtiKey(one.kid, moment(one.made_s), one.replaced_s is None, until)


def moment(at_s: float) -> str:
    """A time as ISO 8601 UTC."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def print_platforms(result: LtiResult) -> None:
    """What an administrator enters, in the words of Moodle, and who is registered."""
    print("A platform is given these addresses (docs/LTI.md):")
    for name, address in (
        ("Initiate login URL", result.login_url),
        ("Redirection URI", result.launch_url),
        ("Content selection URL", result.choose_url),
        ("Public keyset URL", result.keys_url),
    ):
        print(f"  {name:<22} {address}")
    if not result.platforms:
        print("No platform is registered: name their file with DUET_LTI.")
    for one in result.platforms:
        which = (
            f"deployments {', '.join(one.deployments)}" if one.deployments else "all deployments"
        )
        print(f"{one.name}: {one.issuer}, client {one.client_id}, {which}")
