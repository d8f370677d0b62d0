# SPDX-License-Identifier: GPL-2.0-or-later
"""Two source trees with a .config each: one of them counts, and what the other has else is said.

Trees of one release are one base, so that their kernels differ by a patch alone; its configuration
is that of the first tree, below what guests need.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from duet.kernels.recipe import read_fragments
from duet.trials.trees import SourceTree

CONFIG = ".config"
SHOWN = 3
"""Options that a sentence names."""
OF_TOOLS = re.compile(
    r"CONFIG_(?:CC|GCC\d*|CLANG|AS|LD|LLD|PAHOLE|RUSTC|BINDGEN|TOOLS_SUPPORT)_|CONFIG_BUILD_SALT$"
)
"""What Kconfig finds out of compilers and linkers; here they are those of this machine."""


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
