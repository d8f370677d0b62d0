# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lti`: addresses for platforms, registered platforms, and our keys."""

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
    name: str
    issuer: str
    client_id: str
    deployments: Sequence[str] = key("empty: all", shape="[id]")


@dataclass(frozen=True, slots=True)
class LtiKey:
    """One of our keys, without its private part."""

    kid: str
    made_at: str = key("ISO 8601 UTC")
    signs: bool = key("bool")
    shown_until: str = key("ISO 8601 UTC; empty: it signs")


@dataclass(frozen=True, slots=True)
class LtiResult:
    login_url: str = key("for platforms, like the next three")
    launch_url: str = key()
    choose_url: str = key("list of lessons and labs")
    keys_url: str = key()
    platforms_file: str = key("empty: not set")
    platforms: Sequence[LtiPlatform] = key()
    keys_file: str = key()
    keys: Sequence[LtiKey] = key()


KEYS = keys_text(LtiResult)


def lti(
    action: Annotated[
        str, typer.Argument(help="platforms (settings for each), or keys (our signing keys).")
    ] = "platforms",
    rotate: Annotated[
        bool, typer.Option("--rotate", help="For keys: create a new signing key.")
    ] = False,
    url: Annotated[
        str, typer.Option("--url", envvar="DUET_PUBLIC_URL", help="Address of the server.")
    ] = "http://localhost:8642/",
    as_json: Json = False,
) -> int:
    """Show the LTI settings and keys for Moodle or Canvas.

    $DUET_LTI names the platforms file. A replaced key stays in the key set for 7 days. A running
    server uses rotated keys immediately. It reads a changed platforms file only at its next start.
    """
    from duet.api.proxy import PublicUrl

    if action not in ACTIONS:
        raise InputError(
            f"./duet lti has no action '{action:.40}'.",
            remedy=f"Choose from: {', '.join(ACTIONS)}.",
        )
    if rotate and action != "keys":
        raise InputError(
            "--rotate needs the action 'keys'.", remedy="Run: ./duet lti keys --rotate"
        )
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
    """Collect the result.

    Raises:
        InputError: a file is unusable.
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
    until = "" if one.replaced_s is None else moment(one.replaced_s + FORMER_KEY_S)
    return LtiKey(one.kid, moment(one.made_s), one.replaced_s is None, until)


def moment(at_s: float) -> str:
    """Format a time as ISO 8601 UTC."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def print_platforms(result: LtiResult) -> None:
    """Print the values that an administrator has to enter, in Moodle's terms. Then list the
    platforms."""
    print("Addresses to enter at a platform (docs/LTI.md):")
    for name, address in (
        ("Initiate login URL", result.login_url),
        ("Redirection URI", result.launch_url),
        ("Content selection URL", result.choose_url),
        ("Public keyset URL", result.keys_url),
    ):
        print(f"  {name:<22} {address}")
    if not result.platforms:
        print("No platform is registered: set DUET_LTI to the file of platforms.")
    for one in result.platforms:
        which = (
            f"deployments {', '.join(one.deployments)}" if one.deployments else "all deployments"
        )
        print(f"{one.name}: {one.issuer}, client {one.client_id}, {which}")
