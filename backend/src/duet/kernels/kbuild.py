# SPDX-License-Identifier: GPL-2.0-or-later
"""Find options in the text of a source tree's Makefiles, Kconfig files and #ifdefs.

The results are good guesses, and serve only for messages. Exact results would require make and the
preprocessor.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

_SET = re.compile(
    r"^\s*(?P<of>[\w./-]+?)-(?:\$\(CONFIG_(?P<option>\w+)\)|y|m|objs)\s*[:+]?=\s*(?P<words>.*)$",
    re.MULTILINE,
)
_OBJECTS = ("obj", "lib", "core", "drivers")
_OPTION = re.compile(r"^\s*(?:menu)?config\s+(\w+)\s*$", re.MULTILINE)
_IF = re.compile(r"^\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)$")
_ONE = re.compile(r"^\s*(!?)\s*(?:defined|IS_ENABLED|IS_BUILTIN)?\s*\(?\s*CONFIG_(\w+)\s*\)?\s*$")
MOST_STEPS = 20
"""Largest number of folders visited on the way from a file up to the top of its tree."""


def known_options(src: Path, names: Collection[str]) -> set[str]:
    """Return only the options (with CONFIG_) that a Kconfig file of the tree defines."""
    found: set[str] = set()
    for folder, folders, files in os.walk(src):
        folders[:] = [name for name in folders if name not in ("Documentation", ".git")]
        for name in (name for name in files if name.startswith("Kconfig")):
            text = Path(folder, name).read_text(encoding="utf-8", errors="replace")
            found |= {f"CONFIG_{option}" for option in _OPTION.findall(text)} & set(names)
        if len(found) == len(names):
            break
    return found


def new_options(before: str, after: str) -> list[str]:
    """Return options that the Kconfig text `after` defines, but `before` does not."""
    known = set(_OPTION.findall(before))
    return [f"CONFIG_{name}" for name in _OPTION.findall(after) if name not in known]


def missing_option(src: Path, name: str, config: Mapping[str, str]) -> str:
    """Return the disabled option (with CONFIG_) that keeps a file from being compiled, or ""."""
    path = Path(name)
    wanted = f"{path.stem}.o"
    folder = path.parent
    for _ in range(MOST_STEPS):
        option = _in_makefile(_makefile(src / folder), wanted, config)
        if option:
            return option
        if folder == Path():
            return ""
        wanted, folder = f"{folder.name}/", folder.parent
    return ""


def _makefile(folder: Path) -> str:
    """Read a folder's Kbuild or Makefile, with continued lines joined."""
    for name in ("Kbuild", "Makefile"):
        try:
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        return re.sub(r"\\\n", " ", text)
    return ""


def _in_makefile(text: str, wanted: str, config: Mapping[str, str]) -> str:
    """Return the disabled option that keeps `wanted` (object or folder/) out of the build."""
    seen: set[str] = set()
    while wanted and wanted not in seen:
        seen.add(wanted)
        entries = [match for match in _SET.finditer(text) if wanted in match["words"].split()]
        if not entries:
            return ""
        off = [_name(match["option"]) for match in entries if _off(match["option"], config)]
        if len(off) == len(entries):
            return off[0]
        part = next((m["of"] for m in entries if not _off(m["option"], config)), "")
        wanted = "" if part in _OBJECTS else f"{part}.o"
    return ""


def _name(option: str) -> str:
    return f"CONFIG_{option}"


def _off(option: str | None, config: Mapping[str, str]) -> bool:
    return option is not None and config.get(_name(option), "n") != "y"


def hiding_option(text: str, lines: Sequence[int], config: Mapping[str, str]) -> tuple[str, bool]:
    """Return the option whose #ifdef hides all of these lines from the compiler.

    Args:
        lines: line numbers, from 0.

    Returns:
        The option, and whether the lines are compiled when it is on (True) or off (False). ("",
        True) if any of the lines is compiled.
    """
    wanted, found = set(lines), []
    # Each entry: an option, whether it must be on, and whether its lines are compiled.
    stack: list[tuple[str, bool, bool]] = []
    for number, line in enumerate(text.splitlines()):
        if match := _IF.match(line):
            _step(stack, match[1], match[2], config)
        elif number in wanted:
            found.append(next(((o, on) for o, on, open_ in stack if not open_), ("", True)))
    if found and all(option for option, _ in found):
        return found[0]
    return "", True


def _step(
    stack: list[tuple[str, bool, bool]], word: str, rest: str, config: Mapping[str, str]
) -> None:
    """Process one preprocessor directive. A condition that cannot be evaluated counts as true."""
    if word in ("ifdef", "ifndef", "if"):
        match = _ONE.match(rest)
        if match is None:
            stack.append(("", True, True))
            return
        on = (word != "ifndef") != (match[1] == "!")
        stack.append((_name(match[2]), on, _off(match[2], config) != on))
    elif not stack:
        return
    elif word == "endif":
        stack.pop()
    elif word == "else":
        option, on, open_ = stack.pop()
        stack.append((option, not on, not open_) if option else ("", True, True))
    else:
        stack[-1] = ("", True, True)
