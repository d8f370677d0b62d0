# SPDX-License-Identifier: GPL-2.0-or-later
"""What the verb about learning platforms prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


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
