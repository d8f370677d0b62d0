#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the hostile recordings.

    .venv/bin/python -m tests.corpus.make_corpus DIR [--only PREFIX]

Each is one change of a good recording; cases.json beside them says what has to come of each.
The same files come out each time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tests.corpus import (
    hostile_bombs,
    hostile_formats,
    hostile_frames,
    hostile_manifests,
    hostile_zips,
)
from tests.corpus.hostile_case import Case, good

FAMILIES = {
    "format": hostile_formats.cases,
    "frame": hostile_frames.cases,
    "manifest": hostile_manifests.cases,
    "archive": hostile_zips.cases,
    "bomb": hostile_bombs.cases,
}


def cases(family: str | None = None) -> Iterator[Case]:
    """All cases, or those of one family."""
    for name, make in FAMILIES.items():
        if family in (None, name):
            yield from make(good())


def write(folder: Path, family: str | None = None, only: str = "") -> list[Case]:
    """Write the files of some cases; returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [case for case in cases(family) if case.name.startswith(only)]
    for case in made:
        (folder / f"{case.name}.duet").write_bytes(case.content())
    tree = {
        case.name: {
            "inspect": case.inspect.value,
            "replay": case.replay.value,
            "finding": case.finding,
        }
        for case in made
    }
    (folder / "cases.json").write_text(json.dumps(tree, indent=1) + "\n")
    return made


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    made = write(given.folder, only=given.only)
    total = sum(path.stat().st_size for path in given.folder.glob("*.duet"))
    print(f"{len(made)} recordings, {total:,} bytes, in {given.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
