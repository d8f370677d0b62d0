# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of LTI: plain HTML, without scripts, since the content security policy allows none here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import urlencode

from duet.api.tokens import PAGE
from duet.base.errors import DuetError
from duet.lti.items import Choice

BUTTON = '<button style="font: inherit; padding: .35em 1em; cursor: pointer">{text}</button>'


def refusal_page(error: DuetError) -> str:
    """Why somebody does not get in."""
    sentence = error.sentence[:1].upper() + error.sentence[1:]
    body = f"<p>{escape(sentence)}</p>\n<p><b>{escape(error.remedy)}</b></p>"
    return PAGE.format(head="", title="This launch is refused", body=body)


def window_page(values: Mapping[str, str]) -> str:
    """Goes on in a window of its own: in a frame of another site browsers hold cookies back."""
    words = "<p>Kernel Duet opens in a window of its own.</p>"
    form = _form("", values, "Open Kernel Duet", 'target="_blank" rel="noopener"')
    return PAGE.format(head="", title="One step more", body=words + form)


def entry_page(place: Mapping[str, str]) -> str:
    """Goes on to the page by itself.

    A redirect would not do: it belongs to the platform's request, so the browser would hold the
    new SameSite=Strict cookie back. A page of ours that goes on is a request of our own.
    """
    address = escape(f"../?{urlencode(place)}" if place else "../")
    head = f'<meta http-equiv="refresh" content="0; url={address}">\n'
    body = f'<p><a href="{address}">Go on</a></p>'
    return PAGE.format(head=head, title="One moment", body=body)


def choice_page(return_url: str, choices: Iterable[tuple[Choice, str]]) -> str:
    """The list of lessons and labs; each button sends its signed answer to the platform."""
    parts = ["<p>What shall the activity in your course open?</p>"]
    for choice, answer in choices:
        points = "" if choice.most is None else f" · {choice.most:g} points"
        parts.append(f"<h2>{escape(choice.title)}</h2>\n<p>{escape(choice.about)}{points}</p>")
        parts.append(_form(return_url, {"JWT": answer}, "Choose", ""))
    return PAGE.format(head="", title="Lessons and labs", body="\n".join(parts))


def _form(action: str, values: Mapping[str, str], button: str, more: str) -> str:
    fields = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in values.items()
    )
    text = BUTTON.format(text=escape(button))
    return f'<form method="post" action="{escape(action)}" {more}>{fields}{text}</form>'
