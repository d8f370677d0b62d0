# SPDX-License-Identifier: GPL-2.0-or-later
"""Read patches: a diff, git format-patch output, an mbox, or a thread that b4 saved.

Mail bodies and attachments are parsed as by git am (`mail_text.py`), and their diffs as by git
apply (`diffs.py`). From a thread, the author's latest version is used (`series.py`). Replies, cover
letters and mails without a diff are left out. A file may be gzipped, as downloads from
lore.kernel.org are.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path

from duet.base.errors import InputError
from duet.kernels.recipe import patch_commit
from duet.trials import mail_text
from duet.trials.diffs import SEPARATOR, Diff, find_diff
from duet.trials.series import Mail, Post, SeveralSeries, latest

NUMBER = re.compile(r"(?<![\w./])(\d{1,6})/(\d{1,6})\b")
PATCH = re.compile(r"PATCH|RFC", re.IGNORECASE)
VERSION = re.compile(r"(?:\b|(?<=PATCH)|(?<=RFC))v(\d{1,6})(?![\d.]*\.\d|\d)\b", re.IGNORECASE)
"""Pattern of a series' version. A kernel release does not match: [PATCH v6.1 1/2] is version 1."""
LOG = re.compile(r"^commit [0-9a-f]{40}", re.MULTILINE)
"""Pattern of `git log -p` output, which has the newest commit first."""
SUFFIXES = (".patch", ".diff", ".mbox", ".mbx", ".am", ".eml")
PACKED = ".gz"
GZIP = b"\x1f\x8b"
"""Magic bytes of a gzip file (RFC 1952, 2.3.1)."""
MOST_BYTES = 32 << 20
"""Maximum size of an unpacked file. Usual: 100 kB for a series of ten patches."""
MOST_WITHIN = 8
"""Maximum nesting depth of mails that are attached to mails."""
NAME_IT = "Name a file of git format-patch, an mbox, a saved thread, or a plain diff."
MAKE_IT = "Create it again with `git format-patch`, `git diff` or `diff -u`."
SEND_IT = (
    "Take the raw mail from its archive, or have it sent by `git send-email` or as an attachment."
)


class NoPatch(InputError):
    """The input has no patch."""

    code = "no-patch"


class Damaged(NoPatch):
    """A patch that cannot be applied because it is damaged."""

    code = "damaged-patch"


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch.

    Args:
        message: the commit message without the subject.
        diff: the diff in the strict form of kernels/diffs.py.
        link: URL of the mail; "" if it has no Message-ID.
        number: position in the series, counted from 1; 0 if the mail has no number.
        total: number of patches in the series; 0 if the mail has no number.
        version: version of the series, counted from 1.
        commit: the commit from which git format-patch made the patch; "" if unknown.
        bare: a file name in the diff that has no prefix, as with -p0; "" if all names have a
            prefix.
        damage: why the patch cannot be applied; "" if it is intact.
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
    bare: str = ""
    damage: str = ""

    def text(self) -> str:
        head = [f"From {self.commit or '0' * 40} Mon Sep 17 00:00:00 2001"]
        head += [f"From: {self.author}"] if self.author else []
        head += [f"Date: {self.date}"] if self.date else []
        head += [f"Subject: [PATCH] {self.subject}", ""]
        body = [self.message, ""] if self.message else []
        link = [f"Link: {self.link}", ""] if self.link and self.link not in self.message else []
        return "\n".join([*head, *body, *link, "---", self.diff.rstrip("\n"), ""])


def _silent(sentence: str) -> None: ...


def read_patches(path: Path, say: Callable[[str], None] = _silent) -> tuple[Patch, ...]:
    """Read the patches in a file or folder, in the order in which they apply.

    A folder is one series. Its files are sorted by name, or as its file `series` lists them
    (quilt).

    Args:
        say: called with a sentence for the user if file names in a diff have no prefix. For a
            single file, it is also called if the file contains more or less than the latest version
            of the series.

    Raises:
        NoPatch: the path does not exist, or has no patch.
        Damaged: a patch is truncated, or a mail program has changed it.
        SeveralSeries: the file has several series, and none can be preferred.
    """
    if path.is_dir():
        known = (*SUFFIXES, *(suffix + PACKED for suffix in SUFFIXES))
        files = _quilt(path) or sorted(
            p for p in path.iterdir() if p.name.endswith(known) and p.is_file()
        )
        read = [(file, _read(file)) for file in files]
        found = tuple(
            patch for file, one in read for patch in one.series(series_name(file), _silent)
        )
    else:
        read = [(path, _read(path))]
        found = read[0][1].series(series_name(path), say)
    if not found:
        what = "a folder without *.patch files" if path.is_dir() else read[0][1].why()
        mailed = any(one.html or one.secret for _, one in read)
        remedy = SEND_IT if mailed else NAME_IT
        raise NoPatch(f"wanted a patch in {path}, but there is {what}.", remedy=remedy)
    if bare := next((patch.bare for patch in found if patch.bare), ""):
        say(
            f"the diff in {path.name} has file names without a prefix such as a/, so they are used"
            f" unchanged (-p0), for example {bare}"
        )
    return found


def _quilt(folder: Path) -> list[Path]:
    """Return the patches that the file `series` lists (quilt(1)), or [] without such a file."""
    try:
        lines = (folder / "series").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    names = [words[0] for line in lines if (words := line.split("#")[0].split())]
    return [folder / name for name in names]


def series_name(path: Path) -> str:
    """Return a kernel's name from the name of its patch file, without suffixes."""
    return Path(path.stem).stem if path.suffix == PACKED else path.stem


def _read(path: Path) -> _Reader:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NoPatch(
            f"wanted a patch at {path}, but it cannot be read: {error.strerror}.", remedy=NAME_IT
        ) from None
    if data.startswith(GZIP):
        data = _unpacked(path.name, data)
    if len(data) > MOST_BYTES:
        raise NoPatch(
            f"wanted at most {MOST_BYTES:,} bytes of patches, but {path} has more.",
            remedy="Save only the series that you want to try.",
        )
    reader = _Reader(series_name(path))
    reader.read(data)
    return reader


def _unpacked(name: str, packed: bytes) -> bytes:
    """Unpack a gzip file, but at most one byte more than MOST_BYTES.

    Raises:
        NoPatch: the file is truncated, or is not a gzip file.
    """
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NoPatch(
            f"wanted a patch in {name}, but it cannot be unpacked: {error}.",
            remedy="Download the file again, or unpack it with gunzip.",
        ) from None


def parse(data: bytes, name: str, say: Callable[[str], None] = _silent) -> tuple[Patch, ...]:
    """Read the patches in bytes, as read_patches() reads a file.

    Args:
        name: subject for a plain diff.
    """
    reader = _Reader(name)
    reader.read(data)
    return reader.series(name, say)


@dataclass(slots=True)
class _Reader:
    """Collects the mails and patches of one file in the order of arrival.

    Args:
        name: subject for a plain diff.
        within: diffs in the middle of replies that do not mark where a patch begins.
    """

    name: str
    mails: list[Mail] = field(default_factory=list)
    posts: list[Post[Patch]] = field(default_factory=list)
    within: list[Post[Patch]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    senders: dict[str, str] = field(default_factory=dict)
    html: bool = False
    secret: bool = False

    def series(self, name: str, say: Callable[[str], None]) -> tuple[Patch, ...]:
        """Return the patches of the series that series.latest() chooses.

        Raises:
            Damaged: a patch in the series cannot be applied.
        """
        # A bug report that quotes part of a diff is not a patch.
        whole = [one for one in self.posts if one.patch.diff or one.patch.total]
        posts = whole or self.posts
        if not posts and self.within:
            posts = [replace(one, mail=replace(one.mail, answer=False)) for one in self.within]
            if len({one.patch.diff for one in posts}) > 1:
                words = ", ".join(one.words for one in posts[:5])
                raise SeveralSeries(
                    f"wanted a mail with a patch, but {name} has only {len(posts)} replies with a"
                    f" diff: {words}.",
                    remedy="Save the reply that you mean in a separate file.",
                )
            posts = posts[:1]
            say(f"{name} has a diff only in a reply, which is used: {posts[0].words}")
        found = latest(posts, name, say, self.mails)
        if bad := next((patch for patch in found if patch.damage), None):
            raise Damaged(
                f"the patch “{bad.subject[:60]}” in {name} cannot be applied: {bad.damage}.",
                remedy=SEND_IT if bad.author else MAKE_IT,
            )
        return tuple(found)

    def why(self) -> str:
        """Return what the file contains instead of a patch, as part of a sentence."""
        if self.secret:
            return "an encrypted mail without a diff"
        if self.html:
            return "a mail in HTML without a diff in plain text"
        return "no diff in it"

    def read(self, data: bytes, depth: int = 0) -> None:
        """Parse a mailbox, a mail or a diff, and collect its patches.

        Raises:
            NoPatch: a mail has too many nested parts.
        """
        for line, text in mail_text.split(data):
            try:
                mail = mail_text.read_mail(text)
                if mail is None:
                    self._plain(text)
                else:
                    commit = patch_commit(line.decode("ascii", "replace").rstrip())
                    self._mail(mail, commit, depth)
            except RecursionError:
                raise NoPatch(
                    f"wanted a patch in {self.name}, but a mail in it has too many nested parts.",
                    remedy=NAME_IT,
                ) from None

    def _plain(self, data: bytes) -> None:
        """Collect a diff that is not part of a mail."""
        text = mail_text.decoded(mail_text.plain_lines(data))
        diff = find_diff(text)
        if diff is None:
            return
        damage = diff.damage
        if len(LOG.findall(text)) > 1:
            damage = "it is the output of `git log`, which begins with the newest commit"
        patch = Patch(self.name, "", "", "", diff.text, bare=diff.bare, damage=damage)
        self.posts.append(Post(Mail(len(self.mails) + len(self.posts)), patch))

    def _mail(self, mail: Message, commit: str, depth: int) -> None:
        subject = mail_text.subject(mail_text.header(mail, "Subject"))
        place = self._place(mail, subject)
        if place.identity in self.known:
            return  # a copy of the same mail, from another list
        self.known |= {place.identity} - {""}
        self.mails.append(place)
        texts = mail_text.texts(mail)
        self.html |= texts.html
        self.secret |= texts.secret
        if place.kind[0] == 0 < place.kind[1]:
            return  # a cover letter may contain the diff between two versions
        head = self._head(mail, subject, commit)
        for patch in dict.fromkeys(self._patches(texts, head, place, depth)):
            named = patch if patch.subject else replace(patch, subject=head.subject or self.name)
            self.posts.append(Post(place, named))
        for one in texts.within if depth < MOST_WITHIN else ():
            self._mail(one, "", depth + 1)

    def _place(self, mail: Message, subject: mail_text.Subject) -> Mail:
        identity = mail_text.identities(mail_text.header(mail, "Message-ID"))
        answers = mail_text.identities(mail_text.header(mail, "In-Reply-To"))[:1]
        answers += reversed(mail_text.identities(mail_text.header(mail, "References")))
        try:
            time = parsedate_to_datetime(mail_text.header(mail, "Date")).timestamp()
        except (ValueError, OverflowError):
            time = 0.0
        kind = (0, 0, 1) if subject.answer else _numbers(subject.tags)
        return Mail(
            place=len(self.mails) + len(self.posts),
            identity=identity[0] if identity else "",
            parents=tuple(dict.fromkeys(answers)),
            sender=self._sender(mail_text.header(mail, "From")),
            time=time,
            answer=subject.answer,
            tagged=bool(PATCH.search(subject.tags)) or kind[1] > 0,
            kind=kind,
        )

    def _sender(self, header: str) -> str:
        """Return the sender's first address in this file, because people may use several."""
        name, address = mail_text.person(header)
        name = name.rsplit(" <", 1)[0].lower()
        first = self.senders.get(address) or self.senders.get(name) or address
        self.senders |= {address: first, name: first}
        return first

    def _head(self, mail: Message, subject: mail_text.Subject, commit: str) -> Patch:
        """Return a Patch with the data from the mail's headers."""
        number, total, version = (0, 0, 1) if subject.answer else _numbers(subject.tags)
        identity = mail_text.header(mail, "Message-ID").strip("<> \t")
        return Patch(
            subject=subject.title,
            author=mail_text.person(mail_text.header(mail, "From"))[0],
            date=mail_text.header(mail, "Date"),
            message="",
            diff="",
            link=f"https://lore.kernel.org/r/{identity}" if "@" in identity else "",
            number=number,
            total=total,
            version=version,
            commit=commit,
        )

    def _patches(
        self, texts: mail_text.Texts, head: Patch, place: Mail, depth: int
    ) -> Iterator[Patch]:
        """Yield the patch in the mail's body, then the attached patches."""
        diff = find_diff(texts.body)
        lines = texts.body.split("\n")
        above = lines[: diff.start] if diff else lines
        below = mail_text.below_scissors(above)
        said, message = mail_text.in_body(below)
        patch = _with_text(head, said, message)
        if diff is not None:
            patch = _with_diff(patch, diff, texts.flowed)
            if place.answer and below is above:
                self.within.append(Post(place, patch))
            else:
                yield patch
        attached = list(self._attached(texts, depth))
        alone = len([one for _, one in attached if not one.subject]) == 1
        for name, one in attached:
            if not one.subject:  # a bare diff gets the mail's text as its message
                title = patch.subject if alone or not name else Path(name).stem
                bare, damage = one.bare, one.damage
                one = replace(patch, subject=title, diff=one.diff, bare=bare, damage=damage)
            if diff is None or one.diff != patch.diff:
                yield replace(one, link=head.link)

    def _attached(self, texts: mail_text.Texts, depth: int) -> Iterator[tuple[str, Patch]]:
        """Yield (file name, patch) for attachments. A diff without mail headers has no subject."""
        for name, data in texts.files if depth < MOST_WITHIN else ():
            own = _Reader("")
            try:
                plain = _unpacked(name, data)[:MOST_BYTES] if data.startswith(GZIP) else data
            except NoPatch:  # not a patch, for example a configuration or a log
                continue
            own.read(plain, depth + 1)
            named = Path(name.removesuffix(PACKED)).suffix in SUFFIXES
            for post in own.posts:
                if post.patch.diff or named:  # a log may contain part of a diff
                    yield name, post.patch


def _numbers(tags: str) -> tuple[int, int, int]:
    """Parse (number, total, version) from the text in a subject's brackets."""
    number, version = NUMBER.search(tags), VERSION.search(tags)
    return (
        int(number[1]) if number else 0,
        int(number[2]) if number else 0,
        int(version[1]) if version else 1,
    )


def _with_text(head: Patch, said: dict[str, str], message: list[str]) -> Patch:
    """Add the body's own headers and the message above "---" to a patch."""
    end = next((at for at, line in enumerate(message) if SEPARATOR.match(line)), len(message))
    patch = replace(head, message="\n".join(message[:end]).strip())
    if "from" in said:
        patch = replace(patch, author=mail_text.person(said["from"])[0])
    if "date" in said:
        patch = replace(patch, date=said["date"])
    if "subject" in said:
        subject = mail_text.subject(said["subject"])
        number, total, version = _numbers(subject.tags)
        patch = replace(patch, subject=subject.title)
        if total or version > 1:
            patch = replace(patch, number=number, total=total, version=version)
    return patch


def _with_diff(patch: Patch, diff: Diff, flowed: bool) -> Patch:
    damage = diff.damage
    if damage and flowed:
        damage = f"its mail has flowed lines (format=flowed), and {damage}"
    return replace(patch, diff=diff.text, bare=diff.bare, damage=damage)
