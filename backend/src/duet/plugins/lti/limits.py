# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits and sizes of LTI."""

from __future__ import annotations

from typing import Final

LOGIN_S: Final = 600.0
"""From the login to the launch. A used nonce is stored for this time, and no token is accepted
after it, whatever the platform says about its end.
"""
SKEW_S: Final = 30.0
"""How far the platform's clock may be off."""
CHOICE_S: Final = 3600
"""How long a teacher may take to choose a lesson."""
FORMER_KEY_S: Final = 7 * 86400.0
"""A replaced key stays in the key set, because platforms cache that set. Usual: hours."""
FORMER_KEYS: Final = 8
"""Replaced keys in the key set; the oldest is dropped first."""
PLATFORM_KEYS_S: Final = 3600.0
"""The key set of a platform is read again after this."""
KEYS_AGAIN_S: Final = 10.0
"""An unknown key makes us read the platform's key set again, but not more often than this."""
CONNECT_S: Final = 5.0
ANSWER_S: Final = 10.0
"""For each read from a platform, and for its whole answer."""
ANSWER_BYTES: Final = 2 << 20
"""Largest answer of a platform. Usual: 1 KiB; a page of 1,000 members has 500 KiB."""
ASSERTION_S: Final = 60
"""Our request for an access token is valid for this time."""
ASSERTION_EARLY_S: Final = 5
"""The request is dated back by this, for a platform whose clock is slow."""
TOKEN_EARLY_S: Final = 60.0
"""An access token is not used in its last minute."""
TOKENS: Final = 64
"""Access tokens in the cache."""
MEMBERS: Final = 5000
"""Most members of a course. Usual: 30-400."""
PAGES: Final = 500
"""Most pages of one list of a platform; more are an error. Usual: 1-10."""
FORM_BYTES: Final = 64 * 1024
"""Largest login or launch. Usual: 4 KiB."""
SEND_EVERY_S: Final = 30.0
"""Between two polls of the outbox; a new score is sent at once."""
SEND_TOGETHER: Final = 4
"""Scores that are sent at the same time."""
RETRY_FIRST_S: Final = 5.0
RETRY_MOST_S: Final = 3600.0
"""Longest pause between two tries to send a score; each pause is twice the former one."""
SCORE_DAYS: Final = 14
"""A score that no platform accepted for this time is dropped, with a log line; one that can
never be accepted is dropped at once (grades.LATER).
"""
PLATFORMS: Final = 64
FILE_BYTES: Final = 256 * 1024
"""Largest file of platforms or of keys."""
NAME_CHARACTERS: Final = 64
