# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest says of its own trouble is told, unless it is no text."""

from __future__ import annotations

import pytest

from duet.session.trouble import agent_trouble
from duet.wire import GuestError


def test_an_agents_own_words_are_told() -> None:
    error = agent_trouble(GuestError("Line 3 is odd.", "Mend it.", "line 3"), "console")
    assert (error.sentence, error.remedy) == ("Line 3 is odd.", "Mend it.")
    assert error.detail == "line 3\nconsole"


@pytest.mark.parametrize(
    ("sentence", "remedy"),
    [
        ("\x0c\ufffd+\x02", "Mend it."),
        ("", ""),
        ("Odd.", ""),
        ("Odd.", "\x1b[2J"),
        ("x" * 999, "y"),
    ],
)
def test_what_is_no_text_is_not_a_sentence(sentence: str, remedy: str) -> None:
    """As the fuzzer found in a recording whose ERROR frame was another frame's bytes."""
    error = agent_trouble(GuestError(sentence, remedy, "d"), "console")
    assert error.sentence.isprintable() and error.sentence.endswith("no text.")
    assert error.remedy and "\x1b" not in error.detail
