# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes that recordings bring: to be read, never to be built.

A recording that was made on another server may have an arm that somebody changed there, and its
patch. What is taken in here is what the arm's name says: the name is a digest of the change, so no
file can put another text under it.
"""

from __future__ import annotations

from collections import OrderedDict

from duet.changes.change import Change, read_change
from duet.errors import DuetError
from duet.lessons.load import LessonFolder
from duet.lessons.own import changed_arm, with_own

MOST = 60
"""Changes that are remembered; each has a few KB."""
ANY_FILE = ("*",)
"""What a change may touch is for whoever compiles it."""


class BroughtChanges:
    """Name of an arm -> the change that made it; the one that was unused longest goes first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Change] = OrderedDict()

    def take(self, folder: LessonFolder, name: str, patch: bytes) -> None:
        """Remember what a recording has of an arm; a text that did not make it is left out."""
        base = changed_arm(name)
        if base is None or name in self._known:
            return
        _, mark, diff = patch.decode(errors="replace").partition("\ndiff --git ")
        try:
            change = read_change(folder, base, mark[1:] + diff, ANY_FILE)
        except DuetError:
            return
        if change.name == name:
            self._known[name] = change
            while len(self._known) > MOST:
                self._known.popitem(last=False)

    def shown(self, folder: LessonFolder, name: str) -> LessonFolder:
        """The lesson with this arm and the text of its change, if a recording brought that."""
        change = self._known.get(name)
        if change is None or change.lesson != folder.slug:
            return folder
        self._known.move_to_end(name)
        text = change.patch(folder.arm(change.arm).title)
        return with_own(folder, name, summary=change.summary, text=text)


brought = BroughtChanges()
"""Those of this process: whoever reads recordings fills it, whoever shows lessons asks it."""
