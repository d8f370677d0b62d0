# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet new`: start a lesson."""

from __future__ import annotations

from pathlib import Path

from duet.cli.output import emit
from duet.cli.results.lessons import NewResult
from duet.lessons.author import next_steps, start


def new(slug: str, folder: Path | None, as_json: bool) -> int:
    """See `duet new --help`."""
    made = start(slug, folder)
    if as_json:
        emit(
            NewResult(
                lesson=made.slug,
                folder=str(made.place.folder),
                patches=str(made.place.patch_dir),
                program=made.program,
                known=made.known,
            )
        )
    else:
        print(next_steps(made))
    return 0
