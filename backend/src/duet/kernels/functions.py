# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions a diff changes. Pure.

As `diff -p` does, a function is found by the nearest line above that begins in the first column
and looks like its definition; what is not so in a kernel's tree (macros that make functions) is
not found. Whether a kernel has such a function is asked of its symbols.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FILE = re.compile(r"^diff --git a/\S+ b/(\S+)$")
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$")
DEFINITION = re.compile(r"^(?:[A-Za-z_][\w\s*]*?[\s*])?([A-Za-z_]\w*)\s*\(([^;]*)$")
SYSCALL = re.compile(r"^(?:COMPAT_)?SYSCALL_DEFINE\d\((\w+)")
NO_FUNCTION = re.compile(
    r"^(?:struct|union|enum|typedef|extern|return|if|else|while|for|switch|do|goto|case|default|"
    r"EXPORT_\w+|MODULE_\w+|DEFINE_\w+|DECLARE_\w+|module_\w+|\w+_initcall|late_\w+)\b[^(]*(?:\(|$)"
)
TYPED = re.compile(r"^(?:struct|union|enum)\s+\w+[\s*]+\w+\s*\(")
"""A function that returns a structure begins like one."""
OTHER = re.compile(r"^(?:struct|union|enum|typedef|static|extern|DEFINE_\w+|DECLARE_\w+)\b")
"""Something that is no statement begins, unless `defined` says that it is a function."""
SOURCES = (".c", ".h", ".S")


@dataclass(frozen=True, slots=True)
class Change:
    """A function that a diff changes, and the file that has it."""

    file: str
    function: str


def changes(diff: str) -> list[Change]:
    """Functions in whose bodies lines were added or removed, in the order of the diff."""
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
    """The function whose definition begins with this line; None: it begins none."""
    if match := SYSCALL.match(text):
        return f"__x64_sys_{match[1]}"
    if NO_FUNCTION.match(text) and not TYPED.match(text):
        return None
    match = DEFINITION.match(text)
    if match is None or (match[2].count("(") == 0 and "=" in text.split("(")[0]):
        return None
    return None if match[1].isupper() else match[1]  # a macro: TRACE_EVENT(name,
