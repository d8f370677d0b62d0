# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse mails: split mailboxes, and decode headers and texts, like git mailsplit and mailinfo."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr

SEPARATOR = re.compile(
    rb"^From \S+ +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) +[A-Z][a-z]{2} +\d{1,2} +\d{1,2}:\d\d(?::\d\d)?"
    rb"(?: +\S+)? +\d{4}(?: +[-+]\d{4})?[ \r]*\n(?=[!-9;-~]+:)",
    re.MULTILINE,
)
"""Start of a mail in a mailbox (RFC 4155): a sender, a date with a time, then a header."""
FORMAT_PATCH = re.compile(rb"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001")
UNQUOTED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
GIT_CR = re.compile(rb"^(?:diff --git|\+\+\+) [^\n]*\r$", re.MULTILINE)
WITH_STATES = ("iso-2022", "utf-7", "utf7", "utf-16", "utf-32", "hz")
"""Stateful charsets, whose bytes may look like ASCII or UTF-8."""
IN_BODY = re.compile(r"(From|Subject|Date):[ \t]*(.*)", re.IGNORECASE)
TAG = re.compile(r"\s*\[([^]]*)]\s*")
ANSWER = re.compile(
    r"\s*(?:re|aw|sv|vs|antw|odp|fwd?|wg|tr|rv|回复|答复|转发)(?:\[\d+])?\s*[:：]\s*", re.I
)
NAMED = (".patch", ".diff", ".mbox", ".mbx", ".eml", ".am", ".txt", ".gz")


@dataclass(frozen=True, slots=True)
class Subject:
    """A parsed subject.

    Args:
        tags: the text that was in brackets.
        answer: whether the subject began with "Re:" or a similar reply prefix.
    """

    title: str
    tags: str
    answer: bool


@dataclass(slots=True)
class Texts:
    """Parts of a mail that may contain a patch.

    Args:
        body: the mail's plain text, with "\\n" at line ends.
        files: names and bytes of attachments that may be patches.
        within: attached mails.
        html: whether the mail has a text in HTML.
        secret: whether the mail is encrypted.
        flowed: whether the text has flowed lines (RFC 3676).
    """

    body: str = ""
    files: list[tuple[str, bytes]] = field(default_factory=list)
    within: list[Message] = field(default_factory=list)
    html: bool = False
    secret: bool = False
    flowed: bool = False


def split(data: bytes) -> list[tuple[bytes, bytes]]:
    """Split a mailbox into mails, each as (the line "From ..." or b"", the rest)."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # written by PowerShell
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
    found = list(SEPARATOR.finditer(data))
    starts = [match.start() for match in found] + [len(data)]
    mails = [(b"", data[: starts[0]])] if starts[0] else []
    for match, end in zip(found, starts[1:], strict=True):
        text = plain_lines(data[match.end() : end])
        if not FORMAT_PATCH.match(match[0]):  # git format-patch does not quote lines with ">"
            text = UNQUOTED.sub(b"", text)
        mails.append((match[0].strip(), text))
    return mails


def plain_lines(text: bytes) -> bytes:
    r"""Strip the "\r" that a mail program added to lines. Keep those that belong to a diff."""
    first = text.split(b"\n", 1)[0]
    if first.endswith(b"\r") or GIT_CR.search(text):
        return text.replace(b"\r\n", b"\n")
    return text


def read_mail(text: bytes) -> Message | None:
    """Parse a mail. Return None if the text is not a mail, but for example a plain diff."""
    mail = message_from_bytes(plain_lines(text), policy=policy.compat32)
    return mail if mail["Subject"] is not None or mail["From"] is not None else None


def decoded(text: bytes, charset: str = "") -> str:
    """Decode bytes of a mail.

    Valid UTF-8 is decoded as UTF-8 whatever charset the mail declares. A diff must match the bytes
    of files, and texts in other charsets are rarely valid UTF-8. The last resort is Latin-1.
    """
    said = charset.lower().strip("'\" ")
    order = [said, "utf-8"] if said.startswith(WITH_STATES) else ["utf-8", said]
    for one in order:
        try:
            return text.decode(one or "latin-1").encode().decode()  # rejects UTF-7 surrogates
        except (LookupError, ValueError):  # the charset is unknown, or the bytes are invalid in it
            continue
    return text.decode("latin-1")


def header(mail: Message, name: str) -> str:
    """Return a header as one line, or "" if the mail does not have it."""
    raw = next((value for key, value in mail.raw_items() if key.lower() == name.lower()), "")
    text = decoded(str(raw).encode("utf-8", "surrogateescape"), _charset(mail))
    text = re.sub(r"[\r\n]+(?=[ \t])", "", text)
    return " ".join(header_text(text).split())


def header_text(text: str) -> str:
    """Decode RFC 2047 encoded words, and return other text unchanged."""
    with contextlib.suppress(LookupError, ValueError, MessageError):
        text = str(make_header(decode_header(text)))
    return text.encode("utf-8", "surrogatepass").decode(errors="replace")


def person(text: str) -> tuple[str, str]:
    """Parse a sender into ("Name <address>", address in lower case)."""
    name, address = parseaddr(text)
    if "@" not in address:
        return text, text.lower()
    return (f"{name} <{address}>" if name else address), address.lower()


def identities(text: str) -> list[str]:
    """Return the Message-IDs in a header."""
    return re.findall(r"<([^<>\s]+)>", text)


def subject(text: str) -> Subject:
    """Strip brackets and reply prefixes from a subject."""
    tags, answer = [], False
    while True:
        if (match := TAG.match(text)) and text[match.end() :].strip():
            tags.append(match[1])
        elif match := ANSWER.match(text):
            answer = True
        else:
            return Subject(text.strip(), " ".join(tags), answer)
        text = text[match.end() :]


def texts(mail: Message) -> Texts:
    """Collect the parts of a mail that may contain a patch."""
    found = Texts()
    bodies: list[str] = []
    for part in _parts(mail):
        kind = part.get_content_type()
        if kind == "message/rfc822":
            found.within += [one for one in part.get_payload() if isinstance(one, Message)]
            continue
        found.html |= kind == "text/html"
        found.secret |= kind in ("multipart/encrypted", "application/pkcs7-mime")
        name = part.get_filename() or ""
        attached = part.get_content_disposition() == "attachment" or bool(name)
        patch = "patch" in kind or "diff" in kind or name.lower().endswith(NAMED)
        if part.is_multipart() or kind == "text/html" or not (kind.startswith("text/") or patch):
            continue
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        if attached or patch:
            found.files.append((header_text(name), data))
            continue
        text = decoded(plain_lines(data), _charset(part))
        if str(part.get_param("format") or "").lower() == "flowed":
            found.flowed = True
            text = unflowed(text, str(part.get_param("delsp") or "").lower() == "yes")
        bodies.append(text if text.endswith("\n") else text + "\n")
    found.body = "".join(bodies)
    return found


def _parts(mail: Message) -> Iterator[Message]:
    """Yield all parts except those of attached mails."""
    yield mail
    if mail.is_multipart() and mail.get_content_type() != "message/rfc822":
        for part in mail.get_payload():
            if isinstance(part, Message):
                yield from _parts(part)


def _charset(part: Message) -> str:
    said = part.get_param("charset")
    return said[2] if isinstance(said, tuple) else str(said or "")


def unflowed(text: str, delsp: bool) -> str:
    """Join flowed lines (RFC 3676) like git mailinfo."""
    lines, before = [], ""
    for line in text.split("\n"):
        if line == "-- ":
            lines += [before, line] if before else [line]
            before = ""
            continue
        line = line.removeprefix(" ")
        if line.endswith(" "):
            before += line[:-1] if delsp else line
            continue
        lines.append(before + line)
        before = ""
    return "\n".join([*lines, before] if before else lines)


def below_scissors(lines: list[str]) -> list[str]:
    """Return the lines below the last scissors line, or all lines without a scissors line."""
    marks = [at for at, line in enumerate(lines) if is_scissors(line)]
    return lines[marks[-1] + 1 :] if marks else lines


def is_scissors(line: str) -> bool:
    """Whether the line is a scissors line such as `-- >8 --`, by the rule of git mailinfo."""
    visible = line.strip()
    perforation = gap = scissors = at = 0
    inside = False
    while at < len(visible):
        if visible[at].isspace():
            perforation, gap = perforation + inside, gap + inside
        elif visible[at] == "-":
            inside, perforation = True, perforation + 1
        elif visible[at : at + 2] in (">8", "8<", ">%", "%<"):
            inside, perforation, scissors, at = True, perforation + 2, scissors + 2, at + 1
        else:
            inside = False
        at += 1
    enough = 8 <= len(visible) < perforation * 3 and gap * 2 < perforation
    return bool(scissors) and enough


def in_body(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the headers at the start of a mail's text (name -> value), and the other lines.

    Header names are in lower case.
    """
    found: dict[str, str] = {}
    last, at = "", 0
    while at < len(lines):
        line = lines[at]
        if match := IN_BODY.match(line):
            last = match[1].lower()
            if last in found:
                break
            found[last] = match[2].strip()
        elif last and line[:1] in (" ", "\t") and line.strip():
            found[last] += " " + line.strip()
        elif line.strip() or last:
            break
        at += 1
    return found, lines[at:]
