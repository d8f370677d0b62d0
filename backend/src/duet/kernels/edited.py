# SPDX-License-Identifier: GPL-2.0-or-later
"""Files as two arms have them: what differs, whatever the diffs say that made it so.

A diff may have no function behind `@@`, or the one before, and lines that have moved since. So what
is asked of a change is asked of the whole files, before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from duet.kernels.c_text import C_NAMES, same_code, without_comments
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.recipe import ArmSpec, arm_patches, patched_files


@dataclass(frozen=True, slots=True)
class Edited:
    """A file that patches name.

    Args:
        before, after: its text; None: it is not there.
    """

    name: str
    before: str | None
    after: str | None

    @property
    def same_text(self) -> bool:
        """Nothing of it has changed, but perhaps its mode."""
        return self.before == self.after

    @property
    def same_code(self) -> bool:
        """Nothing but comments and white space has changed."""
        if self.before is None or self.after is None:
            return self.same_text
        return same_code(self.name, self.before, self.after)

    def changed(self) -> tuple[list[int], list[int]]:
        """Numbers of lines, from 0, that are gone from the old text, and new in the new one.

        Blank lines and comments do not count.
        """
        old, new = self._lines()
        gone = [n for tag, a, b, _, _ in _steps(old, new) if tag != "equal" for n in range(a, b)]
        fresh = [n for tag, _, _, a, b in _steps(old, new) if tag != "equal" for n in range(a, b)]
        return [n for n in gone if old[n].strip()], [n for n in fresh if new[n].strip()]

    def diff(self) -> str:
        """From the old text to the new, with the whole file around it and without comments.

        "" where no code has changed.
        """
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


def edited_files(arm: ArmSpec, beside: ArmSpec, settings: KernelSettings) -> tuple[Edited, ...]:
    """What is another file in one arm than in another, or has patches of its own.

    Arms on two bases have no files in common: then `beside` is the own base of `arm`.

    Returns:
        Nothing where the source is not unpacked: only then it takes long.

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
    return tuple(Edited(name, before.get(name), after.get(name)) for name in dict.fromkeys(names))


def _steps(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """As SequenceMatcher.get_opcodes(), which is slow on what both have at their ends."""
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
