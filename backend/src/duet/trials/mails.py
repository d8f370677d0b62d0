# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches as people have them: a diff, git format-patch, an mbox, a thread that b4 saved.

Of a thread the latest version is taken, in the order of its numbers (`series.py`); answers, cover
letters and other mail without a diff are left out. A file may be packed with gzip, as that of lore.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from duet.errors import InputError
from duet.kernels.recipe import patch_commit
from duet.trials.series import latest

FROM_LINE = re.compile(rb"^From \S+.*\d{4}$", re.MULTILINE)
"""What separates the mails of an mbox, RFC 4155; format-patch writes a commit in it."""
TAG = re.compile(r"^\s*(?:\[(?P<tag>[^]]*)]\s*)?(?P<title>.*)$", re.DOTALL)
NUMBER = re.compile(r"\b(\d{1,6})/(\d{1,6})\b")
VERSION = re.compile(r"\bv(\d{1,6})\b", re.IGNORECASE)
DIFF = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)
OLD_NEW = re.compile(r"^--- (?P<old>\S+).*\n\+\+\+ (?P<new>\S+).*$", re.MULTILINE)
SUFFIXES = (".patch", ".diff", ".mbox", ".mbx", ".am", ".eml")
PACKED = ".gz"
GZIP = b"\x1f\x8b"
"""RFC 1952, 2.3.1."""
MOST_BYTES = 32 << 20
"""Of one file, unpacked. Usual: a series of ten patches has 100 kB."""


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
        total: patches of the series; 0: the mail says none.
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
    total: int = 0

    def text(self) -> str:
        """In the form of git format-patch."""
        head = [f"From {self.commit or '0' * 40} Mon Sep 17 00:00:00 2001"]
        head += [f"From: {self.author}"] if self.author else []
        head += [f"Date: {self.date}"] if self.date else []
        head += [f"Subject: [PATCH] {self.subject}", ""]
        body = [self.message, ""] if self.message else []
        link = [f"Link: {self.link}", ""] if self.link and self.link not in self.message else []
        return "\n".join([*head, *body, *link, "---", self.diff.rstrip("\n"), ""])


def _silent(sentence: str) -> None:
    """Nobody listens."""


def read_patches(path: Path, say: Callable[[str], None] = _silent) -> tuple[Patch, ...]:
    """The patches of a file or folder, in the order in which they apply.

    A folder is a series: its files in order of their names.

    Args:
        say: gets a sentence where a thread gives more or less than its latest version; not of
            files of a folder, of which each has a part.

    Raises:
        NoPatch: nothing is there, or nothing in it is a patch.
    """
    if path.is_dir():
        known = (*SUFFIXES, *(suffix + PACKED for suffix in SUFFIXES))
        files = sorted(p for p in path.iterdir() if p.name.endswith(known) and p.is_file())
        found = tuple(patch for file in files for patch in _patches(file, _silent))
    else:
        found = _patches(path, say)
    if not found:
        what = "a folder without *.patch files" if path.is_dir() else "no diff in it"
        raise NoPatch(
            f"wanted a patch in {path}, but there is {what}.",
            remedy="Name a file of git format-patch, an mbox, a saved thread, or a plain diff.",
        )
    return found


def series_name(path: Path) -> str:
    """Of the kernel that a file makes: its name without endings."""
    return Path(path.stem).stem if path.suffix == PACKED else path.stem


def _patches(path: Path, say: Callable[[str], None]) -> tuple[Patch, ...]:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NoPatch(
            f"wanted a patch at {path}, but it cannot be read: {error.strerror}.",
            remedy="Name a file of git format-patch, an mbox, a saved thread, or a plain diff.",
        ) from None
    if data.startswith(GZIP):
        data = _unpacked(path, data)
    if len(data) > MOST_BYTES:
        raise NoPatch(
            f"{path} has more than the {MOST_BYTES:,} bytes that a file of patches may have.",
            remedy="Save the one series that you want to try.",
        )
    return parse(data, series_name(path), say)


def _unpacked(path: Path, packed: bytes) -> bytes:
    """At most one byte more than is allowed, whatever it would become.

    Raises:
        NoPatch: it is cut off, or no gzip.
    """
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NoPatch(
            f"wanted a patch in {path}, but it cannot be unpacked: {error}.",
            remedy="Download it again, or unpack it with gunzip.",
        ) from None


def parse(data: bytes, name: str, say: Callable[[str], None] = _silent) -> tuple[Patch, ...]:
    """The patches in the bytes of a file; see read_patches.

    Args:
        name: subject of a plain diff, which has none.
    """
    starts = [match.start() for match in FROM_LINE.finditer(data)]
    if not starts or data[: starts[0]].strip():
        starts.insert(0, 0)
    parts = [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    found = [patch for part in parts if (patch := _one(part, name)) is not None]
    return tuple(latest(found, name, say))


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
        total=int(number[2]) if number else 0,
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
