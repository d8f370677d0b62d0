# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches as people have them: a diff, git format-patch, an mbox, a thread that b4 saved.

Of a thread the latest version is taken, in the order of its numbers; answers, cover letters and
other mail without a diff are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from duet.errors import InputError
from duet.kernels.recipe import patch_commit

FROM_LINE = re.compile(rb"^From \S+.*\d{4}$", re.MULTILINE)
"""What separates the mails of an mbox, RFC 4155; format-patch writes a commit in it."""
TAG = re.compile(r"^\s*(?:\[(?P<tag>[^]]*)]\s*)?(?P<title>.*)$", re.DOTALL)
NUMBER = re.compile(r"\b(\d+)/(\d+)\b")
VERSION = re.compile(r"\bv(\d+)\b", re.IGNORECASE)
DIFF = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)
OLD_NEW = re.compile(r"^--- (?P<old>\S+).*\n\+\+\+ (?P<new>\S+).*$", re.MULTILINE)
SUFFIXES = (".patch", ".diff", ".mbox", ".mbx", ".eml")
MOST_BYTES = 32 << 20
"""Of one file. Usual: a series of ten patches has 100 kB."""


class NoPatch(InputError):
    """There is no patch where one was wanted."""

    code = "no-patch"


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch.

    Args:
        message: of the commit, without the subject.
        diff: from its first `diff --git` line.
        link: where the mail can be read; "" where it has no Message-ID.
        number: its place in the series, from 1; 0: the mail says none.
        version: of the series, from 1.
        commit: that git format-patch made it of; "" where it names none.
    """

    subject: str
    author: str
    date: str
    message: str
    diff: str
    link: str = ""
    number: int = 0
    version: int = 1
    commit: str = ""

    def text(self) -> str:
        """In the form of git format-patch."""
        head = [f"From {self.commit or '0' * 40} Mon Sep 17 00:00:00 2001"]
        head += [f"From: {self.author}"] if self.author else []
        head += [f"Date: {self.date}"] if self.date else []
        head += [f"Subject: [PATCH] {self.subject}", ""]
        body = [self.message, ""] if self.message else []
        link = [f"Link: {self.link}", ""] if self.link and self.link not in self.message else []
        return "\n".join([*head, *body, *link, "---", self.diff.rstrip("\n"), ""])


def read_patches(path: Path) -> tuple[Patch, ...]:
    """The patches of a file or folder, in the order in which they apply.

    A folder is a series: its files in order of their names.

    Raises:
        NoPatch: nothing is there, or nothing in it is a patch.
    """
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES and p.is_file())
        found = tuple(patch for file in files for patch in _patches(file))
    else:
        found = _patches(path)
    if not found:
        what = "a folder without *.patch files" if path.is_dir() else "no diff in it"
        raise NoPatch(
            f"wanted a patch in {path}, but there is {what}.",
            remedy="Name a file of git format-patch, an mbox, a saved thread, or a plain diff.",
        )
    return found


def _patches(path: Path) -> tuple[Patch, ...]:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise NoPatch(
                f"{path} has {size:,} bytes, and a file of patches at most {MOST_BYTES:,}.",
                remedy="Save the one series that you want to try.",
            )
        data = path.read_bytes()
    except OSError as error:
        raise NoPatch(
            f"wanted a patch at {path}, but it cannot be read: {error.strerror}.",
            remedy="Name a file of git format-patch, an mbox, a saved thread, or a plain diff.",
        ) from None
    return parse(data, path.stem)


def parse(data: bytes, name: str) -> tuple[Patch, ...]:
    """The patches in the bytes of a file; see read_patches.

    Args:
        name: subject of a plain diff, which has none.
    """
    starts = [match.start() for match in FROM_LINE.finditer(data)]
    if not starts or data[: starts[0]].strip():
        starts.insert(0, 0)
    parts = [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    found = [patch for part in parts if (patch := _one(part, name)) is not None]
    newest = max((patch.version for patch in found), default=1)
    latest = [patch for patch in found if patch.version == newest]
    if len({patch.number for patch in latest}) == len(latest):
        latest.sort(key=lambda patch: patch.number)  # a thread comes in the order of arrival
    return tuple(latest)


def _one(part: bytes, name: str) -> Patch | None:
    """The patch of one mail; None where it has none."""
    commit = ""
    if part.startswith(b"From ") and b"\n" in part:
        first, part = part.split(b"\n", 1)
        commit = patch_commit(first.decode("ascii", "replace").rstrip())
    mail = message_from_bytes(part, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    subject = " ".join(str(mail["Subject"] or "").split())
    text = _text(mail) if subject else part.decode(errors="replace")
    if subject.lower().startswith(("re:", "aw:", "fwd:")):
        return None
    start = DIFF.search(text)
    if start is None:
        return None
    tag = TAG.match(subject)
    said = (tag["tag"] or "") if tag else ""
    title = (tag["title"] if tag else "") or name
    number, version = NUMBER.search(said), VERSION.search(said)
    message = text[: start.start()] if subject else ""
    identity = str(mail["Message-ID"] or "").strip("<> \t")
    patch = Patch(
        subject=title,
        author=str(mail["From"] or ""),
        date=str(mail["Date"] or ""),
        message=re.split(r"^---\s*$", message, maxsplit=1, flags=re.MULTILINE)[0].strip(),
        diff=plain_diff(text[start.start() :]),
        link=f"https://lore.kernel.org/r/{identity}" if "@" in identity else "",
        number=int(number[1]) if number else 0,
        version=int(version[1]) if version else 1,
        commit=commit,
    )
    return _author_within(patch)


def _text(mail: EmailMessage) -> str:
    """Its plain text, decoded; lines end as on this machine."""
    body = mail.get_body(preferencelist=("plain",))
    if body is None:
        return ""
    try:
        content = body.get_content()
    except LookupError:  # a character set that nobody knows
        content = (body.get_payload(decode=True) or b"").decode(errors="replace")  # type: ignore[union-attr]
    return str(content).replace("\r\n", "\n")


def _author_within(patch: Patch) -> Patch:
    """A message that begins with `From: NAME` names its author there."""
    first, _, rest = patch.message.partition("\n")
    if not first.startswith("From: "):
        return patch
    return replace(patch, author=first.removeprefix("From: ").strip(), message=rest.strip())


def plain_diff(text: str) -> str:
    """The diff without a mail's signature; each file begins with a `diff --git` line."""
    text = re.split(r"^-- ?$", text.replace("\r\n", "\n"), maxsplit=1, flags=re.MULTILINE)[0]
    if "diff --git " not in text:
        text = OLD_NEW.sub(_with_head, text)
    return text.rstrip("\n") + "\n"


def _with_head(match: re.Match[str]) -> str:
    old, new = (match[side].split("/", 1)[-1] for side in ("old", "new"))
    name = new if match["new"] != "/dev/null" else old
    return f"diff --git a/{name} b/{name}\n{match[0]}"
