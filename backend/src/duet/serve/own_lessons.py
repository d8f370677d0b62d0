# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons with arms that visitors changed: which are stored, which are built, whose they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from duet import settings as house
from duet.boxed import missing_box
from duet.budgets import OWN_ARMS, OWN_VISITORS
from duet.changes import Change, Changes, Source, arm_source, brought
from duet.errors import DuetError
from duet.kernels import KernelSettings, lookup, plan
from duet.kernels.arms import arm_spec
from duet.lessons import cache as lesson_cache
from duet.lessons.load import LessonFolder
from duet.lessons.own import with_recorded

NONE_HERE = "This server compiles no kernels."


@dataclass(frozen=True, slots=True)
class Changing:
    """With what changes of visitors are built.

    Args:
        kernels: where kernels are compiled and stored.
        store: where the changes are.
    """

    kernels: KernelSettings
    store: Changes


class OwnLessons:
    """See the module.

    Args:
        changing: None: this server has no kernels.
        off: why it compiles none, a sentence; "": it does.
    """

    def __init__(self, changing: Changing | None, off: str = "") -> None:
        self.changing = changing
        self._off = off
        self._own: OrderedDict[tuple[str, str], list[str]] = OrderedDict()

    def off(self) -> str:
        """Why no change is built here, a sentence; "": they are. Blocking, the first time."""
        if self.changing is None or self._off:
            return self._off or NONE_HERE
        if not house.changes_allowed():
            return "The operator of this server has switched changes off (DUET_CHANGES)."
        why = missing_box()
        return why and f"A change is compiled in a sandbox, and none can be made here: {why}."

    def source(self, slug: str, arm: str) -> tuple[Source, ...]:
        """What can be changed of an arm. Blocking.

        Raises:
            DuetError: no such arm, or its source is not here.
        """
        if self.changing is None:
            return ()
        return arm_source(lesson_cache.find(slug), arm, self.changing.kernels)

    def lesson(self, slug: str, arms: Iterable[str]) -> LessonFolder:
        """A lesson with those of these arms that are changes.

        Raises:
            InputError: no such lesson, or a change is not stored here.
        """
        folder = lesson_cache.find(slug)
        return folder if self.changing is None else self.changing.store.lesson(folder, arms)

    def shown(self, slug: str, arms: Iterable[str]) -> LessonFolder:
        """The same for showing what was run: of a change that is gone, or that was made on another
        server, the text is what a recording has of it; else there is none."""
        folder = lesson_cache.find(slug)
        for arm in arms:
            try:
                if self.changing is not None:
                    folder = self.changing.store.lesson(folder, [arm])
            except DuetError:
                pass
            folder = with_recorded(brought.shown(folder, arm), [arm])
        return folder

    def ready(self, folder: LessonFolder) -> dict[str, bool]:
        """arm -> its kernel is built, of the changed arms of a lesson."""
        return {arm: self.is_built(folder, arm) for arm in folder.changes}

    def is_built(self, folder: LessonFolder, arm: str) -> bool:
        """Whether the kernel of an arm is stored."""
        if self.changing is None:
            return False
        try:
            key = plan(arm_spec(folder, arm), self.changing.kernels)
        except DuetError:
            return False
        return lookup(key, self.changing.kernels) is not None

    def arms_of(self, visitor: str, slug: str) -> list[str]:
        """The changed arms of a visitor, the oldest first."""
        return list(self._own.get((visitor, slug), []))

    def remember(self, visitor: str, change: Change) -> None:
        """This change is a visitor's, too."""
        names = self._own.setdefault((visitor, change.lesson), [])
        if change.name in names:
            names.remove(change.name)
        names.append(change.name)
        del names[:-OWN_ARMS]
        self._own.move_to_end((visitor, change.lesson))
        while len(self._own) > OWN_VISITORS:
            self._own.popitem(last=False)
