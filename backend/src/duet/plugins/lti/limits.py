# SPDX-License-Identifier: GPL-2.0-or-later
"""Time and size limits for LTI."""

from __future__ import annotations

from typing import Final

LOGIN_S: Final = 600.0
"""Maximum time between the login and the launch. A used nonce is stored for this long, and no older
token is accepted, whatever expiry the platform states.
"""
SKEW_S: Final = 30.0
"""How much the platform's clock may be off."""
CHOICE_S: Final = 3600
"""How long a teacher may take to choose a lesson."""
FORMER_KEY_S: Final = 7 * 86400.0
"""How long a replaced key stays in the key set. Platforms cache that set, usually for hours.
"""
FORMER_KEYS: Final = 8
"""Maximum number of replaced keys in the key set. The oldest is dropped first."""
PLATFORM_KEYS_S: Final = 3600.0
"""A platform's key set is read again after this time."""
KEYS_AGAIN_S: Final = 10.0
"""Minimum time before an unknown key makes us read a platform's key set again."""
CONNECT_S: Final = 5.0
ANSWER_S: Final = 10.0
"""Time limit for each read from a platform, and also for its whole answer."""
ANSWER_BYTES: Final = 2 << 20
"""Maximum size of a platform's answer. Usual: 1 KiB. A page of 1,000 members has 500 KiB."""
ASSERTION_S: Final = 60
"""How long our request for an access token is valid."""
ASSERTION_EARLY_S: Final = 5
"""Our request for an access token is backdated by this much, in case the platform's clock is
slow.
"""
TOKEN_EARLY_S: Final = 60.0
"""An access token is no longer used when less than this is left of its lifetime."""
TOKENS: Final = 64
"""Maximum number of cached access tokens."""
MEMBERS: Final = 5000
"""Maximum number of members that are read of a course. Usual: 30-400."""
PAGES: Final = 500
"""Maximum number of pages in a platform's list. A longer list is an error. Usual: 1-10."""
FORM_BYTES: Final = 64 * 1024
"""Maximum size of a login or a launch. Usual: 4 KiB."""
SEND_EVERY_S: Final = 30.0
"""Time between two polls of the outbox. A new score is sent at once."""
SEND_TOGETHER: Final = 4
"""Number of scores that are sent at the same time."""
RETRY_FIRST_S: Final = 5.0
RETRY_MOST_S: Final = 3600.0
"""Maximum pause between two tries to send a score. Each pause is twice as long as the last.
"""
SCORE_DAYS: Final = 14
"""A score that the platform has not accepted after this time is dropped, and this is logged. A
score that the platform can never accept is dropped at once (grades.LATER).
"""
PLATFORMS: Final = 64
FILE_BYTES: Final = 256 * 1024
"""Maximum size of the file with platforms, and of the file with keys."""
NAME_CHARACTERS: Final = 64
