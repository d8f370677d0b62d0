# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lti`: what platforms are given, which are registered, and our keys."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from duet.api.front import PublicUrl
from duet.base.errors import InputError
from duet.cli.output import emit
from duet.cli.results.lti import LtiKey, LtiPlatform, LtiResult
from duet.plugins.lti.limits import FORMER_KEY_S
from duet.plugins.lti.platforms import KeyFile, ToolKey, load_platforms, platforms_file
from duet.plugins.lti.routes import CHOOSE, KEYS, LAUNCH, LOGIN

ACTIONS = ("platforms", "keys")


def lti(action: str, rotate: bool, url: str, as_json: bool) -> int:
    """See `duet lti --help`."""
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


def made(rotate: bool, base: str) -> LtiResult:
    """What the verb says.

    Raises:
        InputError: a file is not usable.
        InfraError: keys cannot be stored.
    """
    path, file = platforms_file(), KeyFile.default()
    known = load_platforms(path).platforms if path else ()
    keys = file.rotate() if rotate else file.load()
    key_set = keys.key_set(time.time())["keys"]
    shown = {jwk["kid"] for jwk in key_set}
    return LtiResult(
        f"{base}{LOGIN}",
        f"{base}{LAUNCH}",
        f"{base}{LAUNCH}?{CHOOSE}",
        f"{base}{KEYS}",
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
