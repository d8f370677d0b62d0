# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server stores, where, and in which format; an older server does not touch a newer one's.

Recordings have a format of their own (bundle/FORMAT.md).
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from duet import __version__, durable, settings
from duet.classes.configured import classes_url
from duet.classes.database import file_of
from duet.errors import InputError
from duet.lessons.own import OWN

FORMAT: Final = 1
"""Of names and files below these places. A change of it comes with a step that converts."""
FORMAT_FILE: Final = "format.json"
MOST_BYTES: Final = 4096
RUN: Final = r"run-[0-9a-z-]{1,40}"
CHANGE: Final = OWN.pattern.replace("?P<base>", "?:").replace("?P<digest>", "?:")
CLASSES: Final = "classes.sqlite"
NAMES: Final = {
    "owner": re.compile(rf"runs/{RUN}\.owner"),
    "run": re.compile(rf"runs/{RUN}\.duet"),
    "tokens": re.compile(r"access\.json"),
    "classes": re.compile(r"classes\.sqlite"),
    "change": re.compile(rf"changes/(?P<arm>{CHANGE})/((?P=arm)\.patch|change\.json)"),
}
"""Kind -> how its files are named in a backup."""


def kind_of(name: str) -> str | None:
    """What a file is, by its name in a backup; None: nothing that a server stores."""
    return next((kind for kind, form in NAMES.items() if form.fullmatch(name)), None)


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie; names in a backup begin with the name of the place.

    Args:
        classes: an SQLite file; None: another database, whose own backup saves it.
    """

    runs: Path
    access: Path
    changes: Path
    classes: Path | None = None

    @classmethod
    def default(cls) -> Places:
        """As the environment says."""
        changes = settings.cache_dir() / "changes/kernel-patches"
        classes = file_of(classes_url())
        return cls(settings.runs_dir(), settings.access_file(), changes, classes)

    def path(self, name: str) -> Path:
        """The file of a name that `kind_of` knows.

        Raises:
            InputError: it is the file of classes, and those are in another database here.
        """
        if name == CLASSES:
            if self.classes is None:
                raise InputError(
                    "classes are in another database here (DUET_CLASSES_DB).",
                    remedy="Unset DUET_CLASSES_DB, or set it to an SQLite file.",
                )
            return self.classes
        place, _, rest = name.partition("/")
        return self.access if not rest else getattr(self, place) / rest

    def files(self) -> Iterator[tuple[str, Path]]:
        """All that is stored. A file may be gone by the time it is read.

        A run is there before its owner, so owners come last: no run is met that has none yet.
        """
        runs = sorted(self.runs.glob("run-*.duet"))
        found = [("access.json", self.access)]
        found += [(CLASSES, self.classes)] if self.classes is not None else []
        found += [(f"runs/{path.name}", path) for path in runs]
        for facts in sorted(self.changes.glob("own-*/change.json")):  # written after the patch
            arm = facts.parent.name
            patch = facts.with_name(f"{arm}.patch")
            found += [(f"changes/{arm}/{path.name}", path) for path in (patch, facts)]
        found += [(f"runs/{path.stem}.owner", path.with_suffix(".owner")) for path in runs]
        yield from ((name, path) for name, path in found if kind_of(name) and path.is_file())


def claim(folder: Path) -> None:
    """Say in the folder of saved runs which format it has, when a server starts.

    A folder that cannot be written is no trouble yet: saving a run there fails with a sentence.

    Raises:
        InputError: a newer Kernel Duet has written there.
    """
    path = folder / FORMAT_FILE
    with contextlib.suppress(OSError):
        number = _format_of(path) if path.exists() else None
        if number is not None and number > FORMAT:
            raise InputError(
                f"the saved runs in {folder} have format {number}, of a newer Kernel Duet; "
                f"this one knows {FORMAT}.",
                remedy="Use that version again, or name another folder with DUET_RUNS.",
            )
        if number is None:
            folder.mkdir(parents=True, exist_ok=True)
            tree = {"format": FORMAT, "version": __version__}
            durable.write(path, json.dumps(tree).encode())


def _format_of(path: Path) -> int | None:
    """The number in a file; None: it is broken, and is written anew."""
    with path.open("rb") as file:
        try:
            tree = json.loads(file.read(MOST_BYTES))
        except ValueError:
            return None
    number = tree.get("format") if isinstance(tree, dict) else None
    return number if isinstance(number, int) else None
