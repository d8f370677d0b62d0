# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a visitor without a session. Plain HTML: the app itself is not given out."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Why:
    """Why nobody is let in.

    Args:
        short: for the close frame of a socket, at most 123 bytes.
    """

    status: int
    title: str
    sentence: str
    remedy: str
    short: str


LINK = "Open the link that the person who runs this server gave you."
NEEDED = Why(
    401,
    "This page opens with a link",
    "This server asks each browser for a link with a token, once, and this browser has no "
    "session here, or its session is over.",
    LINK,
    "This browser’s session is over. Open the link to this server again.",
)
WRONG = Why(
    401,
    "This link is not valid",
    "The token of this link is not one of this server’s: it was replaced, or a part is missing.",
    "Ask the person who runs this server for the new link.",
    "The token is not valid. Ask for the new link.",
)
NO_CLASS = Why(
    401,
    "No class has this code",
    "The class has ended, or a word of its code differs.",
    "Ask the instructor for the link or the three words.",
    "No class has this code. Ask the instructor for it.",
)
TOO_MANY = Why(
    429,
    "One moment",
    "Many wrong codes of classes came from your network, so codes are looked at one after another.",
    "This page tries yours again by itself. Browsers with a session go on meanwhile.",
    "Many wrong codes of classes came. Try again in half a minute.",
)

# The colours and the type are those of frontend/src/ui/tokens.css.
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{head}<title>{title} · Kernel Duet</title>
<style>
:root {{ --paper: #faf8f3; --ink: #1b1d21; --soft: #575b62; --rule: #e2dccf }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #101317; --ink: #e9e6df; --soft: #a3aab1; --rule: #2a3038 }}
}}
body {{ background: var(--paper); color: var(--ink); margin: 0 auto; max-width: 38em;
  padding: 12vh 1.5em; font: 16px/1.55 "Inter Variable", system-ui, sans-serif }}
h1 {{ font: 600 28px/1.25 "Source Serif 4 Variable", Georgia, serif; margin: 1.2em 0 .6em }}
p {{ margin: .6em 0 }}
.quiet {{ color: var(--soft); font-size: 14px; border-top: 1px solid var(--rule);
  margin-top: 2.5em; padding-top: 1em }}
code {{ font-family: "JetBrains Mono Variable", ui-monospace, monospace; font-size: .92em }}
a {{ color: inherit }}
</style>
<p>Kernel Duet</p>
<h1>{title}</h1>
{body}
</html>
"""
OPERATOR = (
    '<p class="quiet">If you run this server: it printed the links when they were made; '
    "<code>./duet token rotate</code> makes new ones and ends the old.</p>"
)


def token_page(why: Why, footer: str = OPERATOR, again_s: int | None = None) -> str:
    """A page that says what is needed.

    Args:
        footer: HTML.
        again_s: it opens its own address once more after so long.
    """
    body = f"<p>{escape(why.sentence)}</p>\n<p><b>{escape(why.remedy)}</b></p>\n{footer}"
    head = "" if again_s is None else f'<meta http-equiv="refresh" content="{again_s}">\n'
    return PAGE.format(head=head, title=escape(why.title), body=body)


def going_on() -> str:
    """A page that opens its own address once more."""
    refresh = '<meta http-equiv="refresh" content="0">\n'
    return PAGE.format(head=refresh, title="One moment", body='<p><a href="">Go on</a></p>')
