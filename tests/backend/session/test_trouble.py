# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest says of its own trouble is reported, unless it is no text."""

from __future__ import annotations

import pytest

from duet.session.trouble import agent_trouble
from duet.wire import GuestError


def test_an_agents_own_words_are_reported() -> None:
    error = agent_trouble(GuestError("Line 3 is odd.", "Mend it.", "line 3"), "console")
    assert (error.sentence, error.remedy) == ("Line 3 is odd.", "Mend it.")
    assert error.detail == "console\nline 3", "a terminal shows the end"


LOG = """[    1.204711] trace_kprobe: error: Invalid return probe
  Command: r:duet/old x
           ^
[    2.318905] trace_kprobe: error: Failed to register probe event
  Command: p:duet/x cpu_startup_entry
           ^
"""


@pytest.mark.parametrize(
    ("why", "remedy"),
    [
        ("No such file or directory", "no function native_x; the compiler may have inlined it"),
        ("Invalid argument", "the kernel forbids probes there (notrace, noinstr"),
        ("Cannot allocate memory", "Check that."),
    ],
)
def test_a_refused_probe_has_the_kernels_words_and_a_remedy(why: str, remedy: str) -> None:
    sentence = (
        f"The probe duet/x (`p:duet/x native_x a=%di:x64`) does not resolve on kernel 6.1.1: {why}."
    )
    error = agent_trouble(GuestError(sentence, "Check that.", LOG), "console")
    assert error.sentence == f"{sentence[:-1]}; the kernel says: Failed to register probe event."
    assert remedy in error.remedy
    assert error.exit_code == 4
    other = agent_trouble(GuestError("The event x is refused: Invalid argument.", "Do.", ""), "c")
    assert (other.sentence, other.remedy) == ("The event x is refused: Invalid argument.", "Do.")


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
    assert error.sentence.isprintable() and error.sentence.endswith("readable text.")
    assert error.remedy and "\x1b" not in error.detail
