# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases. `python -m tests.corpus.mails.made FOLDER` writes them as files."""

from __future__ import annotations

import base64
import difflib
import quopri
import sys
from dataclasses import dataclass, replace
from pathlib import Path

PIPE = "".join(f"\tpipe_{n}(buf, {n});\n" if n % 4 else f"/* Größe {n} */\n" for n in range(1, 41))
SLAB = "".join(f"\tslab_{n}();\n" if n % 5 else "-\n- \n" for n in range(1, 41))
SOURCE = {"fs/pipe.c": PIPE, "mm/slab.c": SLAB, "lib/sort.c": "int sort;\n" * 9}
"""What the patches are made for. In mm/slab.c lines are "-" and "- "."""
AUTHOR = "A. Author <a@example.org>"
OTHER = "B. Other <b@example.org>"
WHY = "Why it is slow.\n\nSigned-off-by: A. Author <a@example.org>\n"
STAT = "---\n fs/pipe.c | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
COMMIT = "From {} Mon Sep 17 00:00:00 2001"
END = "-- \n2.39.2\n\n"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A patch as it is to be read.

    Args:
        after: contents of the files that differ from SOURCE and from the patches before; None:
            the file is gone.
    """

    subject: str
    after: dict[str, str | None]
    author: str = AUTHOR
    message: str = WHY


@dataclass(frozen=True, slots=True)
class Case:
    """A file.

    Args:
        patches: what is to be read of it; () where it is refused.
        refused: the sentence, a regular expression.
        said: what is said beside, regular expressions in their order.
        git: words of `git apply` that take the mails of the file, too; None: git takes other mails
            of the file, or none.
    """

    name: str
    content: bytes
    patches: tuple[Wanted, ...] = ()
    refused: str = ""
    said: tuple[str, ...] = ()
    git: tuple[str, ...] | None = None


def changed(name: str, line: int, text: str, source: dict[str, str] = SOURCE) -> str:
    """The file with one other line; from 1."""
    lines = source[name].splitlines(keepends=True)
    lines[line - 1] = f"{text}\n"
    return "".join(lines)


def hunks(name: str, old: str, new: str, files: tuple[str, str] = ("a/{0}", "b/{0}")) -> str:
    """What `diff -u` writes."""
    names = [one if one == "/dev/null" else one.format(name) for one in files]
    lines = (old.splitlines(keepends=True), new.splitlines(keepends=True))
    return "".join(difflib.unified_diff(*lines, *names))


def diff(name: str, new: str, prefixes: tuple[str, str] = ("a/", "b/"), old: str = "") -> str:
    """What git writes of one file of SOURCE."""
    first, second = (f"{prefix}{name}" for prefix in prefixes)
    head = f"diff --git {first} {second}\nindex 1111111..2222222 100644\n"
    return head + hunks(name, old or SOURCE[name], new, (first, second))


NEW = changed("fs/pipe.c", 2, "\tpipe_new(buf, 2);")
UMLAUT = changed("fs/pipe.c", 8, "/* Länge 8 */")
DASHES = SLAB.replace("-\n- \n\tslab_6", "\tslab_6").replace("slab_8()", "slab_eight()")
SECOND = changed("mm/slab.c", 1, "\tslab_new();")
PIPE_DIFF, SLAB_DIFF = diff("fs/pipe.c", NEW), diff("mm/slab.c", SECOND)
FIRST_OF_TWO = Wanted("fs: first", {"fs/pipe.c": NEW})
SECOND_OF_TWO = Wanted("mm: second", {"mm/slab.c": SECOND})
PIPED = Wanted("fs: pipe", {"fs/pipe.c": NEW})
BARE = Wanted("case", {"fs/pipe.c": NEW}, "", "")
"""Of a file that has no mail."""


def body(patch: str = PIPE_DIFF, why: str = WHY) -> str:
    """As git format-patch writes it below the headers."""
    return f"{why}{STAT}{patch}{END}"


def mail(subject: str, text: str, **headers: str) -> str:
    """A mail of a mailbox; `_` in names of headers stands for `-`, and `at` is its separator."""
    at = headers.pop("at", "From mboxrd@z Thu Jan  1 00:00:00 1970")
    known = {"From": AUTHOR, "Date": "Sat, 31 Jan 2026 10:00:00 +0000", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in known.items()]
    return "\n".join([*([at] if at else []), *lines, f"Subject: {subject}", "", text])


def multipart(subject: str, *parts: str, kind: str = "mixed", **headers: str) -> str:
    """A mail of several parts."""
    what = f'multipart/{kind}; boundary="=-cut"'
    inner = "".join(f"--=-cut\n{part}\n" for part in parts) + "--=-cut--\n"
    return mail(subject, inner, MIME_Version="1.0", Content_Type=what, **headers)


def part(text: str, kind: str = "text/plain", name: str = "", encoding: str = "base64") -> str:
    """A part with its headers; with a name, an attachment."""
    raw = text.encode()
    coded = base64.encodebytes(raw) if encoding == "base64" else quopri.encodestring(raw)
    lines = [f"Content-Type: {kind}; charset=utf-8", f"Content-Transfer-Encoding: {encoding}"]
    lines += [f'Content-Disposition: attachment; filename="{name}"'] if name else []
    return "\n".join([*lines, "", coded.decode()])


def case(name: str, text: str | bytes, *patches: Wanted, **more: object) -> Case:
    """A case; a text is UTF-8."""
    content = text.encode() if isinstance(text, str) else text
    return Case(name, content, patches, **more)  # type: ignore[arg-type]


def plain_cases() -> list[Case]:
    """Diffs with no mail around them."""
    both = ("linux.orig/{0}", "linux/{0}")
    beside = hunks("fs/pipe.c", PIPE, NEW, ("../linux/{0}", "./{0}"))
    alike = hunks("x", "a\n", "b\n", ("a/net/core/lib/x", "b/net/ipv4/lib/x"))
    svn = hunks("fs/pipe.c", PIPE, NEW, ("{0}\t(revision 1)", "{0}\t(working copy)"))
    dated = hunks("fs/pipe.c", PIPE, NEW, ("{0}.orig\t2026-01-31 10:00:00", "{0}\t2026-01-31"))
    p0 = (r"has file names without a prefix such as a/.*for example fs/pipe\.c",)
    move = "diff --git a/{0} b/{1}\nsimilarity index {2}%\n{3} from {0}\n{3} to {1}\n"
    renamed = Wanted("case", {"fs/pipe.c": None, "fs/tube.c": PIPE}, "", "")
    edited = Wanted("case", {"fs/pipe.c": None, "fs/tube.c": NEW}, "", "")
    copied = Wanted("case", {"fs/tube.c": NEW}, "", "")
    inner = hunks("fs/pipe.c", PIPE, NEW, ("a/fs/pipe.c", "b/fs/tube.c"))
    made = "--- /dev/null\n+++ b/fs/new.c\n@@ -0,0 +1 @@\n+int x;\n"
    epoch = made.replace("/dev/null", "linux.orig/fs/new.c\t1970-01-01 00:00:00.000000000 +0000")
    gone = hunks("lib/sort.c", SOURCE["lib/sort.c"], "", ("a/{0}", "/dev/null"))
    new = Wanted("case", {"fs/new.c": "int x;\n"}, "", "")
    mode = "diff --git a/fs/pipe.c b/fs/pipe.c\nold mode 100644\nnew mode 100755\n"
    return [
        case("plain", PIPE_DIFF, BARE, git=()),
        case("plain, two files", PIPE_DIFF + SLAB_DIFF, two(), git=()),
        case("plain, of diff -u", hunks("fs/pipe.c", PIPE, NEW), BARE, git=()),
        case("without prefix", diff("fs/pipe.c", NEW, ("", "")), BARE, said=p0, git=("-p0",)),
        case("of svn", f"Index: fs/pipe.c\n{'=' * 67}\n{svn}", BARE, said=p0, git=("-p0",)),
        case("with a date and .orig", dated, BARE, said=p0, git=("-p0",)),
        case("mnemonic prefixes", diff("fs/pipe.c", NEW, ("i/", "w/")), BARE, git=()),
        case("with two ways of prefixes", PIPE_DIFF.replace("git a/fs/pipe.c b/", "git fs/pipe.c "),
             BARE, said=p0),
        case("of a folder beside this one", beside, BARE),
        case("of two absolute folders", hunks("fs/pipe.c", PIPE, NEW, ("/a/orig/{0}", "/b/{0}")),
             BARE),
        case("of two files with one name", alike,
             refused="the patch names .* but then another file"),
        case("of two folders of the kernel", hunks("x", "a\n", "b\n", ("a/fs/x", "b/mm/x")),
             refused="the patch names .* but then another file"),
        case("a name with blanks", diff("fs/pi pe.c", "new\n", old="old\n"),
             refused="does not name two files: 'diff --git a/fs/pi pe.c b/fs/pi pe.c'"),
        case("made, without prefix", "diff --git new/x.c new/x.c\nnew file mode 100644\n--- /dev/"
             "null\n+++ new/x.c\n@@ -0,0 +1 @@\n+x\n", Wanted("case", {"new/x.c": "x\n"}, "", ""),
             said=("for example new/x.c",), git=("-p0",)),
        case("of quilt", f"Index: linux/fs/pipe.c\n{'=' * 67}\n"
             + hunks("fs/pipe.c", PIPE, NEW, both), BARE, git=()),
        case("of two folders", hunks("fs/pipe.c", PIPE, NEW, both), BARE, git=()),
        case("of two folders, by git", diff("fs/pipe.c", NEW, ("a/linux.orig/", "b/linux/")),
             BARE, git=("-p2",)),
        case("of two folders, one file at the top", hunks("Makefile", "a\n", "b\n",
             ("a/linux.orig/{0}", "b/linux/{0}")), refused="this kernel has no Makefile"),
        case("of hg", "# HG changeset patch\n# User A\n\nwhy\n\ndiff -r 1 -r 2 fs/pipe.c\n"
             + hunks("fs/pipe.c", PIPE, NEW), BARE, git=()),
        case("renamed", move.format("fs/pipe.c", "fs/tube.c", 100, "rename"), renamed, git=()),
        case("renamed and changed", move.format("fs/pipe.c", "fs/tube.c", 97, "rename") + inner,
             edited, git=()),
        case("copied and changed", move.format("fs/pipe.c", "fs/tube.c", 97, "copy") + inner,
             copied, git=()),
        case("mode alone", mode, Wanted("case", {}, "", ""), git=()),
        case("made", made, new, git=()),
        case("made, by its date", epoch.replace("+++ b/", "+++ linux/"), new, git=()),
        case("gone", gone, Wanted("case", {"lib/sort.c": None}, "", ""), git=()),
        case("with carriage returns", PIPE_DIFF.replace("\n", "\r\n"), BARE),
        case("removed dashes", diff("mm/slab.c", DASHES),
             Wanted("case", {"mm/slab.c": DASHES}, "", ""), git=()),
        case("out of the tree", diff("fs/pipe.c", NEW).replace("fs/pipe.c", "../pipe.c"),
             refused="is not inside the kernel's tree"),
        case("absolute", hunks("x", "a\n", "b\n", ("/usr/src/a.c", "/usr/src/a.c")),
             refused="is not inside the kernel's tree"),
        case("gone, by its date", gone.replace("/dev/null", "b/lib/sort.c\t1970-01-01 00:00:00.0 "
             "+0000"), Wanted("case", {"lib/sort.c": None}, "", ""), git=()),
        case("of PowerShell", PIPE_DIFF.replace("\n", "\r\n").encode("utf-16"), BARE),
        case("in colours", "".join(f"\x1b[1m{line}\x1b[m\n" for line in PIPE_DIFF.splitlines()),
             refused="terminal colours"),
        case("without context", "diff a/fs/pipe.c b/fs/pipe.c\n2c2\n< a\n---\n> b\n",
             refused="a diff without context"),
        case("a context diff", "*** a/fs/pipe.c\n--- b/fs/pipe.c\n***************\n*** 1 ****\n",
             refused=r"it is a context diff \(diff -c\)"),
        case("of a merge", "diff --cc fs/pipe.c\nindex 1,2..3\n--- a/fs/pipe.c\n+++ b/fs/pipe.c\n",
             refused="the combined diff of a merge"),
        case("of git log", f"commit {'1' * 40}\n\n{PIPE_DIFF}\ncommit {'2' * 40}\n\n{SLAB_DIFF}",
             refused="output of `git log`, which begins with the newest"),
        case("cut off", PIPE_DIFF.rsplit("\n", 3)[0] + "\n",
             refused=r"the hunk of fs/pipe\.c that begins at line 5 is cut off"),
        case("a line too many", PIPE_DIFF + "+\tmore();\n", refused="continues the hunk of"),
        case("a second file without its head", PIPE_DIFF + "\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n",
             refused="does not begin a complete part"),
        case("nothing", "Dear all,\n\nplease test.\n", refused="there is no diff in it"),
    ]  # fmt: skip


def two() -> Wanted:
    """Both files in one patch."""
    return Wanted("case", {"fs/pipe.c": NEW, "mm/slab.c": SECOND}, "", "")


def mail_cases() -> list[Case]:
    """Single mails: how they are encoded, what is attached, what stands in the text."""
    see = part("See attached.\n")
    patch = "text/x-patch"
    own = mail("[PATCH] mm: own head", body(SLAB_DIFF), at=COMMIT.format("1" * 40))
    attached = Wanted("fs: pipe", {"fs/pipe.c": NEW}, message="See attached.")
    inline = body(diff("fs/pipe.c", UMLAUT))
    umlaut = Wanted("fs: pipe", {"fs/pipe.c": UMLAUT})
    latin = mail("[PATCH] mm: slab", body(SLAB_DIFF), From="Jürgen Groß <a@example.org>")
    jurgen = Wanted("fs: pipe", {"fs/pipe.c": NEW}, "Jürgen Groß <a@example.org>")
    reply = "On Monday, B wrote:\n> diff --git a/x b/x\n\nTry this:\n\n-- >8 --\n"
    tagged = "Subject: [PATCH v2] fs: pipe\n\n"
    flowed = {"MIME_Version": "1.0", "Content_Type": "text/plain; format=flowed"}
    stuffed = "".join(f" {line}" if line[:1] == " " else line
                      for line in body().splitlines(keepends=True))  # fmt: skip
    whole, cut = "+\tpipe_new(buf, 2);", "+\tpipe_new(buf,\n2);"
    broken, stuffed_broken = body().replace(whole, cut), stuffed.replace(whole, cut)
    html = "<pre>" + PIPE_DIFF + "</pre>"
    crlf = part(body().replace("\n", "\r\n"))
    signed = body().replace("\n---\n", "\n\n>From the start it was slow.\n---\n", 1)
    from_line = WHY + "\nFrom the start it was slow.\n"
    base = {"MIME_Version": "1.0", "Content_Transfer_Encoding": "base64"}
    return [
        case("format-patch", mail("[PATCH] fs: pipe", inline, at=COMMIT.format("1" * 40)),
             umlaut, git=()),
        case("UTF-8 and no content type", mail("[PATCH] fs: pipe", inline), umlaut, git=()),
        case("UTF-8 and no separator", mail("[PATCH] fs: pipe", inline, at=""), umlaut, git=()),
        case("UTF-8, called ASCII", mail("[PATCH] fs: pipe", inline, MIME_Version="1.0",
             Content_Type="text/plain; charset=us-ascii"), umlaut, git=()),
        case("UTF-8, in a charset that nobody knows", mail("[PATCH] fs: pipe", inline,
             Content_Type="text/plain; charset=x-none"), umlaut),
        case("UTF-8, called Latin-1", mail("[PATCH] fs: pipe", inline,
             Content_Type="text/plain; charset=iso-8859-1"), umlaut),
        case("Latin-1, said", mail("[PATCH] fs: pipe", inline,
             Content_Type="text/plain; charset=iso-8859-1").encode("latin-1"), umlaut),
        case("Latin-1, not said", mail("[PATCH] fs: pipe", inline).encode("latin-1"), umlaut),
        case("KOI8-R", mail("[PATCH] mm: slab", body(SLAB_DIFF, f"Почему.\n\n{WHY}"),
             MIME_Version="1.0", Content_Type="text/plain; charset=koi8-r").encode("koi8-r"),
             Wanted("mm: slab", {"mm/slab.c": SECOND}, message=f"Почему.\n\n{WHY}"), git=()),
        case("quoted-printable", multipart("[PATCH] fs: pipe", part(inline, encoding="quoted-"
             "printable")), umlaut, git=()),
        case("base64", multipart("[PATCH] fs: pipe", part(inline)), umlaut, git=()),
        case("base64 of carriage returns", multipart("[PATCH] fs: pipe", crlf), PIPED),
        case("carriage returns", mail("[PATCH] fs: pipe", body()).replace("\n", "\r\n"), PIPED,
             git=()),
        case("an author in Latin-1", latin.encode("latin-1"), Wanted("mm: slab", {"mm/slab.c":
             SECOND}, jurgen.author), git=()),
        case("an encoded author", mail("=?utf-8?q?=5BPATCH=5D_fs=3A?= =?utf-8?b?IHBpcGU=?=",
             body(), From="=?iso-8859-1?q?J=FCrgen_Gro=DF?= <a@example.org>"), jurgen, git=()),
        case("an author in quotes", mail("[PATCH] fs: pipe", body(), From='"A. Author" <a@example.'
             "org>"), PIPED, git=()),
        case("an author in the text", mail("[PATCH] fs: pipe", f"From: {AUTHOR}\n\n{body()}",
             From=OTHER), PIPED, git=()),
        case("a subject in the text", mail("[list] question", f"From: {AUTHOR}\nSubject: [PATCH] "
             f"fs:\n pipe\n\n{body()}", From=OTHER), PIPED, git=()),
        case("many brackets", mail("[linux-mm] [PATCH] [RFC]  fs:\n pipe", body()), PIPED, git=()),
        case("attached", multipart("[PATCH] fs: pipe", see, part(PIPE_DIFF, patch, "x.patch")),
             attached, git=()),
        case("attached as octets", multipart("fs: pipe", see, part(PIPE_DIFF, "application/octet-"
             "stream", "x.diff")), attached),
        case("attached to an answer", multipart("Re: fs: pipe", see, part(PIPE_DIFF, patch, "x")),
             attached, git=()),
        case("two attached", multipart("two", see, part(PIPE_DIFF, patch, "0001-first.patch"),
             part(SLAB_DIFF, patch, "0002-second.patch")),
             Wanted("0001-first", {"fs/pipe.c": NEW}, message="See attached."),
             Wanted("0002-second", {"mm/slab.c": SECOND}, message="See attached.")),
        case("attached with its head", multipart("see", see, part(own, patch, "x.patch")),
             Wanted("mm: own head", {"mm/slab.c": SECOND})),
        case("in the text and attached", multipart("[PATCH] fs: pipe", part(body()),
             part(PIPE_DIFF, patch, "x.patch")), PIPED),
        case("a mail within a mail", multipart("Fwd: it", see, "Content-Type: message/rfc822\n\n"
             + mail("[PATCH] fs: pipe", body(), at="")), PIPED),
        case("with the footer of a list", multipart("[PATCH] fs: pipe", part(body()),
             part("____\nA list\n")), PIPED, git=()),
        case("as text and HTML", multipart("[PATCH] fs: pipe", part(body()), part(html,
             "text/html"), kind="alternative"), PIPED),
        case("HTML alone", multipart("[PATCH] fs: pipe", part(html, "text/html")),
             refused="a mail in HTML without a diff in plain text"),
        case("encrypted", multipart("x", part("v", "application/pgp-encrypted"), kind="encrypted"),
             refused="an encrypted mail"),
        case("scissors in an answer", mail("Re: [PATCH 3/7] mm: x", reply + tagged + body()),
             PIPED),
        case("scissors in a patch", mail("[PATCH] fs: pipe", f"Hello,\n\n--- 8< --- cut --- 8< ---"
             f"\n\n{body()}"), PIPED, git=()),
        case("an answer with a diff", mail("Re: slow pipes", f"Try this?\n\n{PIPE_DIFF}"),
             Wanted("slow pipes", {"fs/pipe.c": NEW}, message="Try this?"),
             said=("has a diff only in a reply",)),
        case("flowed and whole", mail("[PATCH] fs: pipe", stuffed, **flowed), PIPED, git=()),
        case("flowed and broken", mail("[PATCH] fs: pipe", stuffed_broken, **flowed),
             refused=r"has flowed lines \(format=flowed\), and line 16, '2\);', breaks the hunk of "
             r"fs/pipe\.c that begins at line 12"),
        case("a broken line", mail("[PATCH] fs: pipe", broken),
             refused="line 16, '2);', breaks .* probably a wrapped line".replace(")", r"\)")),
        case("mboxrd", mail("[PATCH] fs: pipe", signed),
             Wanted("fs: pipe", {"fs/pipe.c": NEW}, message=from_line)),
        case("a line From with a year", mail("[PATCH] fs: pipe", body(why=f"{WHY}From v5.5 on, in "
             "January 2020\nFrom here it is as in 2005\n")), Wanted("fs: pipe", {"fs/pipe.c": NEW},
             message=f"{WHY}From v5.5 on, in January 2020\nFrom here it is as in 2005"), git=()),
        case("a line From with a date", mail("[PATCH] fs: pipe", body(why=f"{WHY}\nFrom joe Mon Jan"
             "  5 2026\nNote: it is slow.\n")), Wanted("fs: pipe", {"fs/pipe.c": NEW},
             message=f"{WHY}\nFrom joe Mon Jan  5 2026\nNote: it is slow."), git=()),
        case("removed dashes in a mail", mail("[PATCH] mm: slab", body(diff("mm/slab.c", DASHES))),
             Wanted("mm: slab", {"mm/slab.c": DASHES}), git=()),
        case("text below the diff", mail("[PATCH] fs: pipe", f"{WHY}---\n{PIPE_DIFF}\n- Bob\n+1 "
             "from me\n"), PIPED, git=()),
        case("base64 in one part", mail("[PATCH] fs: pipe", base64.encodebytes(body().encode())
             .decode(), **base), PIPED, git=()),
    ]  # fmt: skip


def thread_cases() -> list[Case]:
    """Several mails in a file."""

    def one(subject: str, patch: str, identity: str, answers: str = "", **more: str) -> str:
        known = {"Message_ID": f"<{identity}@host>", **more}
        if answers:
            known |= {"In_Reply_To": f"<{answers}@host>", "References": f"<{answers}@host>"}
        return mail(subject, body(patch) if patch else "What it is about.\n", **known)

    cover = one("[PATCH 0/2] A series", "", "c")
    first = one("[PATCH 1/2] fs: first", PIPE_DIFF, "1", "c")
    second = one("[PATCH 2/2] mm: second", SLAB_DIFF, "2", "c")
    series = cover + first + second
    both = (FIRST_OF_TWO, SECOND_OF_TWO)
    late = {"Date": "Sun, 1 Feb 2026 10:00:00 +0000"}
    sort = diff("lib/sort.c", "int x;\n" * 9)
    theirs = one("[PATCH] lib: other way", sort, "o", "1", From=OTHER, **late)
    also = one("[PATCH v3 1/2] lib: mine", sort, "o", "c", From=OTHER, **late)
    bot = one("[tip: fs/urgent] fs: first", PIPE_DIFF, "t", "1", From="tip-bot2 for A <t@bot.org>",
              **late)  # fmt: skip
    again = one("[PATCH 1/2] fs: first", PIPE_DIFF, "1b", "c", **late)
    wrong = one("[PATCH 1/2] fs: first", sort, "1", "c")
    on_top = one("[PATCH] lib: on top", sort, "top", "2", **late)
    lists = series + first + second
    elsewhere = one("[PATCH 1/2] lib: b1", sort, "b1")
    elsewhere += one("[PATCH 2/2] lib: b2", sort, "b2", "b1")
    older = one("[RFC][PATCH v1 1/2] fs: first", sort, "v1", "")
    newer = [
        one("[list] [PATCH v2 1/2] fs: first", PIPE_DIFF, "n1", **late),
        one("[list] [PATCHv2 2/2] mm: second", SLAB_DIFF, "n2", "n1", **late),
    ]
    release = one("[PATCH v6.1 1/2] fs: first", PIPE_DIFF, "1") + second.replace("<c@", "<1@")
    left = "not part of the series and are left out: “lib: {}” of b@example.org"
    unthreaded = "".join(
        one(f"[PATCH {n}/2] {text}", patch, f"u{n}")
        for n, text, patch in ((2, "mm: second", SLAB_DIFF), (1, "fs: first", PIPE_DIFF))
    )
    files = [
        mail(f"[PATCH {n}/2] {text}", body(patch), at=COMMIT.format("1" * 40))
        for n, text, patch in ((1, "fs: first", PIPE_DIFF), (2, "mm: second", SLAB_DIFF))
    ]
    foreign = [
        mail(f"[PATCH {n}/2] lib: {n}", body(sort), at=COMMIT.format("2" * 40)) for n in (1, 2)
    ]
    replies = [
        mail(f"Re: slow {n}", f"Try:\n\n{patch}", Message_ID=f"<r{n}@host>")
        for n, patch in ((1, PIPE_DIFF), (2, SLAB_DIFF))
    ]
    row = one("[PATCH] fs: first", PIPE_DIFF, "s1") + one("[PATCH] mm: second", SLAB_DIFF, "s2")
    cut = f"No.\n\n-- >8 --\nSubject: [PATCH] lib: mine\n\n{body(sort)}"
    answers = {"Message_ID": "<s@host>", "In_Reply_To": "<1@host>"}
    scissors = mail("Re: [PATCH 1/2] fs: first", cut, From=OTHER, **answers)
    early = {"Date": "Fri, 30 Jan 2026 10:00:00 +0000"}
    by_other = {"From": OTHER, "Message_ID": "<c@host>", **early}
    report = mail("slow pipes", f"I tried this:\n\n{sort}", **by_other)
    piece = mail("slow pipes", "See:\n@@ -1,2 +1,2 @@\n", **by_other)
    hasty = mail("Re: [PATCH] slow pipes", cut, From=OTHER, **{**answers, **early})
    resent = [
        one(f"[PATCH RESEND {n}/2] {text}", patch, f"again{n}", "again1" if n > 1 else "", **late)
        for n, text, patch in ((1, "fs: first", PIPE_DIFF), (2, "mm: second", SLAB_DIFF))
    ]
    former = wrong + second
    home = one("[PATCH v2 1/2] fs: first", PIPE_DIFF, "h1", "1", From="A. Author <a@home.org>")
    home += one("[PATCH v2 2/2] mm: second", SLAB_DIFF, "h2", "h1", From="A. Author <a@home.org>")
    unlike = home.replace("fs: first", "fs: 1").replace("mm: second", "mm: 2")
    for name in ("In-Reply-To", "References"):
        unlike = unlike.replace(f"{name}: <1@host>\n", "")
    over = home.replace("A. Author <a@home.org>", OTHER).replace("h1@", "o1@").replace("h2@", "o2@")
    question = r"has 2 unrelated series: “{}” and 1 more, “lib: {}” and 1 more"
    return [
        case("a series", series, *both),
        case("a series of git format-patch", "".join(files), *both, git=()),
        case("a series with carriage returns", series.replace("\n", "\r\n"), *both),
        case("a series in another order", second + first + cover, *both),
        case("a series without a thread", unthreaded, *both),
        case("a series by two lists", lists, *both),
        case("an answer quotes the diff", series + mail("Re: [PATCH 1/2] fs: first", "> " +
             PIPE_DIFF.replace("\n", "\n> ") + "\nNo.\n", From=OTHER), *both),
        case("somebody else's patch", theirs + series, *both, said=(left.format("other way"),)),
        case("somebody else's later version", series + also, *both, said=(left.format("mine"),)),
        case("somebody else's, below scissors", series + scissors, *both,
             said=(left.format("mine"),)),
        case("a bot repeats one", series + bot, *both, said=("“fs: first” of t@bot.org",)),
        case("a bot alone", bot, Wanted("fs: first", {"fs/pipe.c": NEW}, "tip-bot2 for A <t@bot."
             "org>"), git=()),
        case("sent again", wrong + cover + second + again, *both,
             said=("has fs: first more than once; the last one is used",)),
        case("the author's next patch", series + on_top, *both,
             said=("“lib: on top” of a@example.org",)),
        case("the latest version", older + "".join(newer), *both),
        case("of a release", release, *both),
        case("patches without numbers", row, *both),
        case("a report with a diff", report + first + second, *both, said=(left.format("pipes")
             .replace("lib: ", "slow "),)),
        case("a report with a piece of a diff", piece + first + second, *both),
        case("a hasty answer, then a series", hasty + series, *both, said=(left.format("mine"),)),
        case("a series sent again", former + "".join(resent), *both),
        case("from another address", former + home, *at_home(both)),
        case("taken over by another", former + over, *taken_over(both)),
        case("an inserted patch", series + one("[PATCH 1.5/2] lib: more", sort, "15", "c", **late),
             *both, said=("“lib: more” of a@example.org",)),
        case("two series", first + second + elsewhere, refused=question.format("fs: first", "b1")),
        case("two series, the second newer", series + elsewhere.replace("[PATCH", "[PATCH v2")
             .replace(AUTHOR, OTHER), refused=question.format("fs: first", "b1")),
        case("two series of git format-patch", "".join([*files, *foreign]),
             refused=question.format("fs: first", "1")),
        case("two series of one author, the second newer", former + unlike, *at_home((
             replace(FIRST_OF_TWO, subject="fs: 1"), replace(SECOND_OF_TWO, subject="mm: 2"))),
             said=("“fs: first” of a@example.org, “mm: second” of a@example.org",)),
        case("two answers with diffs", "".join(replies),
             refused="has only 2 replies with a diff: “slow 1”"),
        case("a cover letter with a difference", one("[PATCH 0/2] A series", sort, "c") + first +
             second, *both),
    ]  # fmt: skip


def at_home(patches: tuple[Wanted, ...]) -> list[Wanted]:
    """By the author, from another address."""
    return [replace(one, author="A. Author <a@home.org>") for one in patches]


def taken_over(patches: tuple[Wanted, ...]) -> list[Wanted]:
    """By somebody else."""
    return [replace(one, author=OTHER) for one in patches]


def all_cases() -> list[Case]:
    """Every case."""
    return [*plain_cases(), *mail_cases(), *thread_cases()]


def main(folder: Path) -> None:
    """Write the cases."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in all_cases():
        (folder / f"{one.name.replace(' ', '-')}.mbox").write_bytes(one.content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
