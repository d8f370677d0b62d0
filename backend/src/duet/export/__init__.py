# SPDX-License-Identifier: GPL-2.0-or-later
"""Export recordings to other programs' formats; all inputs are checked first."""

from __future__ import annotations

import asyncio
from pathlib import Path

from duet.base.errors import InputError
from duet.bundle import Bundle
from duet.bundle.reader import read_lane
from duet.export import perfetto, tables, tracedat
from duet.export.scene import Scene, Target
from duet.lessons import load as lessons
from duet.runs.replay import play_bundle

FORMATS = ("perfetto", "trace.dat", "csv")


def export(bundle: Bundle, to: str, out: Path, *, force: bool = False) -> dict[str, int]:
    """Write a recording in another format.

    Args:
        to: one of FORMATS.
        out: path of the result: a file for perfetto, a folder for trace.dat (one file per lane) and
            csv (one file per table).
        force: replace existing files.

    Returns:
        Path -> size in bytes of each written file.

    Raises:
        InputError: the format is unknown, the recording cannot be played, or a file already exists.
        InfraError: a file cannot be written.
    """
    if to not in FORMATS:
        raise InputError(
            f"'{to:.20}' is not an export format.", remedy=f"Choose from: {', '.join(FORMATS)}."
        )
    target = Target(out, force=force)
    if to == "trace.dat":
        lanes = [(entry, read_lane(bundle, entry.name)) for entry in bundle.manifest.arms]
        target.check_folder()
        for entry, lane in lanes:
            with target.file(f"{entry.name}.dat") as file:
                tracedat.write(file, entry, lane)
        return target.written
    if to == "perfetto":
        target.check_file()
    scene = scene_of(bundle)
    if to == "csv":
        target.check_folder()
        tables.write(target, bundle, scene)
        return target.written
    with target.file() as file:
        perfetto.write(file, scene)
    return target.written


def scene_of(bundle: Bundle) -> Scene:
    """Play a bundle and collect all its tables.

    Raises:
        InputError: the bundle's lesson does not exist here, or the bundle cannot be played.
    """
    folder = lessons.load(bundle.manifest.lesson)
    played = asyncio.run(play_bundle(folder, bundle, with_batches=True))
    return Scene(folder.lesson, bundle.manifest, played)
