# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare two arms' versions of kernel source files. The complete files are compared.

Comparing the diffs of the patches is not enough: an `@@` line may name no function or the preceding
function, and line numbers shift between patches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from duet.kernels.recipe import ArmSpec, arm_patches, patched_files
from duet.kernels.settings import KernelSettings

# Find the functions that a diff changes. Pure.
#
# As in `diff -p`, a changed line belongs to the nearest function definition above the line. A
# definition is a line that begins in the first column and looks like a function. Functions that a
# macro defines are not found. A caller that needs certainty must search the kernel's symbols for
# the function.

FILE = re.compile(r"^diff --git a/\S+ b/(\S+)$")
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$")
DEFINITION = re.compile(r"^(?:[A-Za-z_][\w\s*]*?[\s*])?([A-Za-z_]\w*)\s*\(([^;]*)$")
SYSCALL = re.compile(r"^(?:COMPAT_)?SYSCALL_DEFINE\d\((\w+)")
NO_FUNCTION = re.compile(
    r"^(?:struct|union|enum|typedef|extern|return|if|else|while|for|switch|do|goto|case|default|"
    r"EXPORT_\w+|MODULE_\w+|DEFINE_\w+|DECLARE_\w+|module_\w+|\w+_initcall|late_\w+)\b[^(]*(?:\(|$)"
)
TYPED = re.compile(r"^(?:struct|union|enum)\s+\w+[\s*]+\w+\s*\(")
"""First line of a function that returns a structure; it begins like a structure's declaration."""
OTHER = re.compile(r"^(?:struct|union|enum|typedef|static|extern|DEFINE_\w+|DECLARE_\w+)\b")
"""A line that ends a function's scope, unless `defined` recognizes a function in it."""
SOURCES = (".c", ".h", ".S")


@dataclass(frozen=True, slots=True)
class Change:
    """A function that a diff changes, and its file."""

    file: str
    function: str


def changes(diff: str) -> list[Change]:
    """Return functions in whose bodies lines were added or removed, in the order of the diff."""
    found: dict[Change, None] = {}
    file, inside = "", ""
    for line in diff.splitlines():
        if match := FILE.match(line):
            file, inside = match[1], ""
        elif match := HUNK.match(line):
            inside = defined(match[1]) or ""
        elif file.endswith(SOURCES) and line[:1] in " +-" and not line.startswith(("---", "+++")):
            sign, text = line[:1], line[1:]
            if text.startswith("}") or OTHER.match(text):
                inside = ""
            if name := defined(text):
                inside = name
                if sign != " ":
                    found.setdefault(Change(file, name))
            elif sign in "+-" and inside and text[:1].isspace() and text.strip():
                found.setdefault(Change(file, inside))
    return list(found)


def defined(text: str) -> str | None:
    """Return the function whose definition begins on this line, or None."""
    if match := SYSCALL.match(text):
        return f"__x64_sys_{match[1]}"
    if NO_FUNCTION.match(text) and not TYPED.match(text):
        return None
    match = DEFINITION.match(text)
    if match is None or (match[2].count("(") == 0 and "=" in text.split("(")[0]):
        return None
    return None if match[1].isupper() else match[1]  # a macro: TRACE_EVENT(name,


# Strip comments from C source, to compare two versions of a file as code. Pure.
#
# Line breaks inside comments are kept, so line numbers do not change.

_TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
"""Matches comments, and also string and character literals, in which `/*` begins no comment."""
_KBUILD = re.compile(r"(?:^|/)(?:Kconfig|Makefile|Kbuild)[^/]*$")
C_NAMES = (".c", ".h", ".S")


def without_comments(text: str) -> str:
    """Replace each comment with a blank; keep the number of lines."""

    def keep(match: re.Match[str]) -> str:
        token = match[0]
        return " " + "\n" * token.count("\n") if token.startswith("/") else token

    return _TOKEN.sub(keep, text)


def same_code(name: str, one: str, other: str) -> bool:
    """Whether two versions of a file differ at most in comments, blank lines and white space.

    Different line breaks count as a difference, because a preprocessor directive ends with its
    line. In files that are not C, white space also counts. In Kconfig files and Makefiles, only
    whole-line comments are ignored.
    """
    return _code(name, one) == _code(name, other)


def _code(name: str, text: str) -> list[list[str]]:
    if name.endswith(C_NAMES):
        lines = without_comments(text).splitlines()
        return [words for line in lines if (words := _words(line))]
    comments = _KBUILD.search(name) is not None
    lines = [line.rstrip() for line in text.splitlines()]
    return [[one] for one in lines if one and not (comments and one.lstrip().startswith("#"))]


def _words(line: str) -> list[str]:
    """Split a line at white space, but not inside string and character literals."""
    parts = re.split(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""", line)
    words: list[str] = []
    for number, part in enumerate(parts):
        words += [part] if number % 2 else part.split()
    return words


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file that patches change.

    Args:
        before, after: text of each version; None if this version lacks the file.
    """

    name: str
    before: str | None
    after: str | None

    @property
    def same_text(self) -> bool:
        """Whether the text is unchanged; the file mode may differ."""
        return self.before == self.after

    @property
    def same_code(self) -> bool:
        """Whether at most comments and white space changed."""
        if self.before is None or self.after is None:
            return self.same_text
        return same_code(self.name, self.before, self.after)

    def changed_lines(self) -> tuple[list[int], list[int]]:
        """Return numbers (from 0) of lines removed from the old text and added in the new text.

        Blank lines and comments do not count.
        """
        old, new = self._lines()
        gone = [n for tag, a, b, _, _ in _steps(old, new) if tag != "equal" for n in range(a, b)]
        fresh = [n for tag, _, _, a, b in _steps(old, new) if tag != "equal" for n in range(a, b)]
        return [n for n in gone if old[n].strip()], [n for n in fresh if new[n].strip()]

    def diff(self) -> str:
        """Return a diff of the complete file without its comments; "" if no code changed."""
        old, new = self._lines()
        if old == new:
            return ""
        ends = (
            ("--- /dev/null" if self.before is None else f"--- a/{self.name}"),
            ("+++ /dev/null" if self.after is None else f"+++ b/{self.name}"),
        )
        head = [f"diff --git a/{self.name} b/{self.name}", *ends]
        head.append(f"@@ -1,{len(old)} +1,{len(new)} @@")
        return "\n".join([*head, *_marked(old, new), ""])

    def _lines(self) -> tuple[list[str], list[str]]:
        old, new = self.before or "", self.after or ""
        if self.name.endswith(C_NAMES):
            old, new = without_comments(old), without_comments(new)
        return (
            [line.rstrip() for line in old.splitlines()],
            [line.rstrip() for line in new.splitlines()],
        )


def edited_files(arm: ArmSpec, beside: ArmSpec, settings: KernelSettings) -> tuple[EditedFile, ...]:
    """Return files that differ between two arms, or that only one arm's patches change.

    If `beside` has another base or config, its files cannot be compared with those of `arm`. In
    this case, `arm` is compared with its own unpatched base.

    Returns:
        The files; none if the source is not unpacked, because unpacking takes too long here.

    Raises:
        PatchFails, PatchRefused: a patch does not fit.
    """
    base = settings.base_of(arm)
    if base.source.kind == "image":
        return ()
    tree = settings.tree(base, arm.config, settings.tarball(base).sha256)
    if not tree.src.is_dir():
        return ()
    patches = arm_patches(arm, settings.patches, base)
    one_base = beside.base == arm.base and beside.config == arm.config
    others = arm_patches(beside, settings.patches, base) if one_base else ()
    shared = {path.read_bytes() for path in patches} & {path.read_bytes() for path in others}
    own = [path for path in (*others, *patches) if path.read_bytes() not in shared]
    names = [name for path in own for name in patched_files(path.read_bytes().decode())]
    before, after = tree.texts(others, names), tree.texts(patches, names)
    return tuple(
        EditedFile(name, before.get(name), after.get(name)) for name in dict.fromkeys(names)
    )


def _steps(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield SequenceMatcher opcodes; for speed, match the common head and tail separately."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    tail = next((n for n in range(most - head) if old[-1 - n] != new[-1 - n]), most - head)
    if head:
        yield "equal", 0, head, 0, head
    inner = old[head : len(old) - tail], new[head : len(new) - tail]
    for tag, a, b, c, d in SequenceMatcher(None, *inner).get_opcodes():
        yield tag, a + head, b + head, c + head, d + head
    if tail:
        yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _marked(old: list[str], new: list[str]) -> Iterator[str]:
    for tag, a, b, c, d in _steps(old, new):
        if tag == "equal":
            yield from (f" {line}" for line in old[a:b])
            continue
        yield from (f"-{line}" for line in old[a:b])
        yield from (f"+{line}" for line in new[c:d])


# Find the structure fields that a diff adds or moves, and the functions that use them.
#
# A structure is found in the same way as a function: by its first line, which begins in the first
# column, or by the `@@` line of a hunk.


STRUCT = re.compile(r"^struct (\w+) \{?\s*$")
MEMBER = re.compile(
    r"^\s+(?!return\b|typedef\b|else\b|goto\b)[A-Za-z_][\w\s*]*?[\s*](\w+)"
    r"(?:\[[^]]*])*(?:\s*:\s*\d+)?(?:\s+__\w+(?:\([^)]*\))*)*;"
)
POINTER = re.compile(r"^\s+[A-Za-z_][\w\s*]*\(\*(\w+)\)\s*\(")
"""A member that is a pointer to a function."""
TOPS = ("fs", "mm", "kernel", "lib", "block", "ipc")
"""Folders whose files are searched for users of a field that only a header declares."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A member of `struct STRUCT` that a diff adds or moves."""

    struct: str
    name: str


def field_changes(diff: str) -> list[FieldChange]:
    """Return members whose lines the diff adds, in diff order; a moved line counts as added."""
    found: dict[FieldChange, None] = {}
    inside, read = "", False
    for line in diff.splitlines():
        if match := FILE.match(line):
            inside, read = "", match[1].endswith((".c", ".h"))
        elif match := HUNK.match(line):
            inside = _struct(match[1])
        elif read and line[:1] in (" ", "+", "-") and not line.startswith(("---", "+++")):
            text = line[1:]
            if text[:1].strip():  # the line begins in the first column
                inside = _struct(text)
            elif inside and line[0] == "+" and (name := _member(text)):
                found[FieldChange(inside, name)] = None
    return list(found)


def users(src: Path, files: Iterable[str], fields: Iterable[str]) -> list[str]:
    """Return functions that access one of these members by `->` or `.`.

    Args:
        src: a source tree.
        files: files of the patch. If none of these uses a field, the files in the folders TOPS are
            searched.
        fields: member names.
    """
    names = "|".join(re.escape(name) for name in dict.fromkeys(fields))
    if not names:
        return []
    used = re.compile(rf"(?:->|\.)(?:{names})\b")
    found = _using([src / name for name in files if name.endswith(".c")], used)
    return found or _using([path for top in TOPS for path in sorted((src / top).glob("*.c"))], used)


def _using(paths: Iterable[Path], used: re.Pattern[str]) -> list[str]:
    found: dict[str, None] = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if not used.search(text):
            continue
        inside = ""
        for line in text.splitlines():
            inside = defined(line) or ("" if line.startswith("}") else inside)
            if inside and line[:1].isspace() and used.search(line):
                found[inside] = None
    return list(found)


def _struct(text: str) -> str:
    match = STRUCT.match(text)
    return match[1] if match else ""


def _member(text: str) -> str:
    match = MEMBER.match(text) or POINTER.match(text)
    return match[1] if match else ""
