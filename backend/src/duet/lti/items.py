# SPDX-License-Identifier: GPL-2.0-or-later
"""Deep linking: a teacher chooses a lesson or a lab, and the platform makes an activity of it.

Source: https://www.imsglobal.org/spec/lti-dl/v2p0
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import jwt
from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.lineitem import LineItem

from duet.lti.claims import DeepLinking, Launch
from duet.lti.keyfile import ToolKeys
from duet.lti.limits import CHOICE_S
from duet.lti.messages import ALGORITHM
from duet.lti.refused import LaunchRefused
from duet.lti.registration import ToolRegistration


@dataclass(frozen=True, slots=True)
class Choice:
    """What a teacher may choose.

    Args:
        custom: parameters of its launches: `lesson`, `lab`, `step`.
        most: points of the column in the grade book; None: it has none.
    """

    title: str
    about: str
    custom: dict[str, str] = field(default_factory=dict)
    most: float | None = None


class _Item(DeepLinkResource):
    def __init__(self, windows: bool) -> None:
        self._windows = windows

    def to_dict(self) -> dict[str, object]:
        """With the window that the library does not write: a frame gets no cookie of ours."""
        more: dict[str, object] = {"window": {"targetName": "_blank"}} if self._windows else {}
        return super().to_dict() | more


def settings_of(launch: Launch) -> DeepLinking:
    """What the platform takes.

    Raises:
        LaunchRefused: nothing that we could give.
    """
    found = launch.claims.choosing
    if found is None or "ltiResourceLink" not in found.accept_types:
        raise LaunchRefused("the platform takes no link to an activity here.")
    if not launch.platform.takes(found.deep_link_return_url):
        raise LaunchRefused(
            "the platform wants the choice at an address without TLS.",
            remedy="Give the platform an address that begins with https://.",
        )
    return found


def answer(launch: Launch, keys: ToolKeys, choice: Choice, launch_url: str) -> str:
    """The signed message for the platform's return address, good for CHOICE_S."""
    given = settings_of(launch)
    item = _Item("window" in given.accept_presentation_document_targets)
    item.set_title(choice.title).set_url(launch_url).set_custom_params(choice.custom)
    if choice.most is not None and given.accept_lineitem is not False:
        column = LineItem().set_score_maximum(choice.most).set_label(choice.title)
        item.set_lineitem(column.set_resource_id(next(iter(choice.custom.values()))))
    registration = ToolRegistration(launch.platform, keys)
    tree: Any = {"deep_link_return_url": given.deep_link_return_url, "data": given.data}
    deep = DeepLink(registration, launch.claims.deployment, tree)
    message = deep.get_message_jwt([item])
    message["exp"] = int(time.time()) + CHOICE_S
    given_only = {key: value for key, value in message.items() if value is not None}
    headers = {"kid": keys.signing.kid}
    return jwt.encode(given_only, keys.signing.pem, algorithm=ALGORITHM, headers=headers)
