# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of a trial that are one kernel, and why: then there is nothing to measure.

A verdict of two equal kernels is noise. Some patches are known not to change any before anything
is built; of others the kernels are compared once they are there (duet.kernels.sameness).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from duet.kernels.edited import Edited
from duet.kernels.kbuild import hiding_option, missing_option, new_options
from duet.kernels.sameness import ANOTHER, SameKernel
from duet.kernels.tree import WorkTree

MOST_REASONS: Final = 3
TEXTS: Final = ("Documentation", "LICENSES", "samples", "tools/testing", "tools/perf")
"""Folders of which nothing becomes a part of a kernel."""
FILES: Final = ("MAINTAINERS", "CREDITS", "COPYING", "README", ".mailmap", ".clang-format")
ENDINGS: Final = (".rst", ".md", ".gitignore", ".gitattributes", ".editorconfig")
SOURCES: Final = (".c", ".S", ".h")


def same_source(edited: Sequence[Edited]) -> str:
    """Why two sources make one kernel, whatever its configuration; "": they may make two."""
    reasons = [_of_text(one) for one in edited]
    return _joined(reasons) if edited and all(reasons) else ""


def unbuilt(edited: Sequence[Edited], tree: WorkTree, config: Mapping[str, str]) -> tuple[str, str]:
    """Why nothing of a patch is in a kernel, and the option that it waits for; ("", ""): it may be.

    Args:
        tree: in which the kernel was compiled.
        config: of the kernel, by names with CONFIG_.
    """
    found = _reasons(edited, tree, config)
    return _best(found) if found and all(reason for reason, _ in found) else ("", "")


def why_same(
    edited: Sequence[Edited], tree: WorkTree | None, config: Mapping[str, str]
) -> tuple[str, str]:
    """The best reason why two kernels that were built are one, and the option that would help."""
    found = _reasons(edited, tree, config) if tree is not None and tree.src.is_dir() else []
    if known := [one for one in found if one[0]]:
        return _best(known)
    names = [one.name for one in edited]
    if not names:
        return "nothing that runs differs between them", ""
    return f"the compiler makes the same code of {_list(names)}", ""


def _reasons(
    edited: Sequence[Edited], tree: WorkTree, config: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Of each file why its change is not in the kernel, and the option that it waits for."""
    behind = tree.behind([one.name for one in edited])
    return [
        (reason, "") if (reason := _of_text(one)) else _of_build(one, tree.src, config, behind)
        for one in edited
    ]


def _best(found: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Those that name an option come first."""
    ordered = sorted(found, key=lambda one: not one[1])
    return _joined(reason for reason, _ in ordered), ordered[0][1]


def same_error(arms: Sequence[str], reason: str, option: str = "") -> SameKernel:
    """The error for a trial in which nothing is left to be compared.

    Args:
        option: that would tell the kernels apart; "": none is known.
    """
    remedy = ANOTHER
    if option:
        name = option.removeprefix("CONFIG_")
        remedy = f"Switch it on in both kernels with --config {name}=y."
    return SameKernel(f"{same_words(arms, reason)}.", remedy=remedy)


def same_words(arms: Sequence[str], reason: str) -> str:
    """The sentence, without its full stop."""
    who = f"all {len(arms)} kernels" if len(arms) > 2 else "both kernels"
    return f"{who} ({', '.join(arms)}) are the same build, because {reason}"


def _of_text(one: Edited) -> str:
    """Why a change of this file changes no kernel; "": it may."""
    path = PurePosixPath(one.name)
    if one.name.startswith(tuple(f"{top}/" for top in TEXTS)) or path.name in FILES:
        return f"{one.name} is no part of a kernel"
    if path.name.endswith(ENDINGS):
        return f"{one.name} is no part of a kernel"
    if one.same_text:
        return f"only the mode of {one.name} has changed"
    if one.same_code:
        return f"only comments of {one.name} have changed"
    return ""


def _of_build(
    one: Edited, src: Path, config: Mapping[str, str], behind: Mapping[str, Iterable[str]]
) -> tuple[str, str]:
    """Why a change of this file is not in a kernel, and the option that it waits for."""
    path = PurePosixPath(one.name)
    if path.name.startswith("Kconfig"):
        fresh = new_options(one.before or "", one.after or "")
        off = [name for name in fresh if config.get(name, "n") == "n"]
        if off and len(off) == len(fresh):
            return f"its new option {off[0]} is not switched on", off[0]
        return "", ""
    if path.suffix not in SOURCES:
        return "", ""
    if not behind.get(one.name):
        if path.suffix == ".h":
            return f"nothing that is compiled in this configuration includes {one.name}", ""
        option = missing_option(src, one.name, config)
        wants = f" (it wants {option})" if option else ""
        return f"{one.name} is not compiled in this configuration{wants}", option
    gone, fresh_lines = one.changed()
    places = [(one.before or "", gone), (one.after or "", fresh_lines)]
    hidden = [hiding_option(text, lines, config) for text, lines in places if lines]
    if hidden and all(option for option, _ in hidden):
        option, on = hidden[0]
        state = "which is not switched on" if on else "which is switched on"
        within = "stands behind" if on else "is for kernels without"
        return f"what changes in {one.name} {within} {option}, {state}", option if on else ""
    return "", ""


def _joined(reasons: Iterable[str]) -> str:
    return " and ".join(list(dict.fromkeys(reasons))[:MOST_REASONS])


def _list(names: Sequence[str]) -> str:
    more = " and others" if len(names) > MOST_REASONS else ""
    return ", ".join(names[:MOST_REASONS]) + more
