# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of a trial's kernels: options of --config, and two trees with a .config each.

All kernels of a base have one configuration, so that they differ by a patch alone. Of two trees of
one release it is that of the first, below what guests need; what the other has else is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from duet.errors import InputError
from duet.kernels.needed import OF_TOOLS
from duet.kernels.recipe import read_fragments, read_options
from duet.trials.trees import SourceTree

CONFIG = ".config"
SHOWN = 3
"""Options that a sentence names."""

OPTION = re.compile(r"^(?:CONFIG_)?(?P<name>[A-Za-z0-9_]+)(?:=(?P<value>\S.*))?$")


def read_config(given: Sequence[str]) -> dict[str, str]:
    """Options of --config, by names with CONFIG_; each is OPTION=VALUE or a file of them.

    Raises:
        InputError: one is neither.
    """
    options: dict[str, str] = {}
    for text in given:
        path = Path(text).expanduser()
        if path.is_file():
            found = read_options(path.read_text(encoding="utf-8", errors="replace"))
            if not found:
                raise _no_options(text, "the file has no line such as CONFIG_NAME=y")
            options |= found
            continue
        match = OPTION.match(text.strip())
        if match is None or "/" in text:
            raise _no_options(text, "that is no option, and no file")
        options[f"CONFIG_{match['name']}"] = match["value"] or "y"
    modules = [name for name, value in options.items() if value == "m"]
    if modules:
        raise _no_options(f"{modules[0]}=m", "guests have no modules")
    return options


def _no_options(text: str, why: str) -> InputError:
    return InputError(
        f"--config wants options of a kernel, but '{text:.60}' came: {why}.",
        remedy="Write for example: --config TRANSPARENT_HUGEPAGE=y, or name a file of such lines.",
    )


def config_words(first: SourceTree, other: SourceTree, fragments: Sequence[Path]) -> str:
    """A sentence about a configuration that is not used; "" where nothing of it is lost.

    Args:
        fragments: what guests need, which overrides both.
    """
    ours, theirs = (tree.folder / CONFIG for tree in (first, other))
    if ours == theirs or not theirs.is_file():
        return ""
    if not ours.is_file():
        return (
            f"the configuration of {other.name} is not used: both kernels have that of"
            f" {first.name}, which has no {CONFIG}"
        )
    apart = _apart(ours, theirs, fragments)
    if not apart:
        return ""
    more = " and others" if len(apart) > SHOWN else ""
    options = "1 option" if len(apart) == 1 else f"{len(apart)} options"
    return (
        f"the configurations of {first.name} and {other.name} differ in {options}"
        f" ({', '.join(apart[:SHOWN])}{more}), and both kernels have that of {first.name}"
    )


def _apart(ours: Path, theirs: Path, fragments: Sequence[Path]) -> list[str]:
    """Options that would be another thing in a guest's kernel, by name."""
    asked = read_fragments(fragments)
    one, two = ({**read_fragments([path]), **asked} for path in (ours, theirs))

    def built(options: Mapping[str, str], name: str) -> str:
        value = options.get(name, "n")
        return "n" if value == "m" else value  # modules are not built

    names = sorted(one.keys() | two.keys())
    apart = (name for name in names if built(one, name) != built(two, name))
    return [name for name in apart if OF_TOOLS.match(name) is None]
