# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits and sizes of LTI."""

from __future__ import annotations

from typing import Final

LOGIN_S: Final = 600.0
"""From the login to the launch. A nonce that was used is stored so long, and no token counts
after it, however late the platform says that it ends."""
SKEW_S: Final = 30.0
"""How far the platform's clock may be from ours."""
CHOICE_S: Final = 3600
"""A teacher may look so long at the list of lessons before choosing one."""
FORMER_KEY_S: Final = 7 * 86400.0
"""A key that was replaced stays in the key set, since platforms store that set. Usual: hours."""
FORMER_KEYS: Final = 8
"""Replaced keys in the key set; the oldest goes first."""
PLATFORM_KEYS_S: Final = 3600.0
"""The key set of a platform is read again after this."""
KEYS_AGAIN_S: Final = 10.0
"""An unknown key makes us read the platform's key set again, but not more often."""
CONNECT_S: Final = 5.0
ANSWER_S: Final = 10.0
"""Of a platform: for each read, and for its whole answer."""
ANSWER_BYTES: Final = 2 << 20
"""Of a platform. Usual: 1 KiB; a page of 1,000 members has 500 KiB."""
ASSERTION_S: Final = 60
"""Our request for an access token counts so long."""
ASSERTION_EARLY_S: Final = 5
"""It says that it is so old, for a platform whose clock is late."""
TOKEN_EARLY_S: Final = 60.0
"""An access token is not used in its last minute."""
TOKENS: Final = 64
"""Access tokens that are remembered."""
MEMBERS: Final = 5000
"""Of one course. Usual: 30-400."""
PAGES: Final = 500
"""Of one list of a platform; more are an error. Usual: 1-10."""
FORM_BYTES: Final = 64 * 1024
"""Of a login or a launch. Usual: 4 KiB."""
SEND_EVERY_S: Final = 30.0
"""The outbox is looked at so often, and at once when a score comes."""
SEND_TOGETHER: Final = 4
"""Scores that are sent at the same time."""
RETRY_FIRST_S: Final = 5.0
RETRY_MOST_S: Final = 3600.0
"""Between two tries to send a score; each pause is twice the former one."""
SCORE_DAYS: Final = 14
"""A score that no platform took for so long is given up, with a line in the log; one that it never
takes is given up at once (grades.LATER)."""
PLATFORMS: Final = 64
FILE_BYTES: Final = 256 * 1024
"""Of the files of platforms and of keys."""
NAME_CHARACTERS: Final = 64
