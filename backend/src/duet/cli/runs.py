# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet runs`: lists saved live runs, adds one, or deletes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from pydantic import JsonValue

    from duet.server.archive import ArchiveFolder


_RUN = (
    "[{name, lesson (null: unreadable), arms, workload, params, clock, seconds, bytes, "
    "recorded_at}]"
)


@dataclass(frozen=True, slots=True)
class RunsResult:
    """The saved runs, as the server's archive describes them."""

    folder: str
    most: int
    most_bytes: int
    added: str | None = key("name or null")
    runs: Sequence[Mapping[str, object]] = key("newest first", _RUN)


KEYS = keys_text(RunsResult)


def runs(
    add: Annotated[
        Path | None, typer.Option("--add", help="Save this recording, to play it on the page.")
    ] = None,
    delete: Annotated[str, typer.Option("--delete", help="Delete the run of this name.")] = "",
    as_json: Json = False,
) -> int:
    """List saved live runs; add one, or delete one. The page plays them, and other verbs accept
    their names.
    """
    from duet.server.archive import ArchivedRuns, ArchiveFolder

    if add is not None and delete:
        raise InputError("--add and --delete exclude each other.", remedy="Use --add or --delete.")
    folder = ArchiveFolder.default()
    added = folder.add(add) if add is not None else None
    if delete:
        folder.delete(delete)
    found = ArchivedRuns(folder).all()
    if as_json:
        place = str(folder.folder)
        emit(RunsResult(place, folder.most, folder.most_bytes, added, found))
        return 0
    if added:
        print(f"Saved as {added}.")
    if delete:
        print(f"Deleted {delete}.")
    if not add and not delete:
        print("\n".join([*map(line, found), *([""] if found else []), summary(folder, found)]))
    return 0


def line(entry: dict[str, JsonValue]) -> str:
    name, size = f"{entry['name']}", entry["bytes"]
    if entry["lesson"] is None:
        return f"{name}  cannot be opened; ./duet inspect {name} says why"
    arms = entry["arms"]
    assert isinstance(arms, list)
    params = entry["params"]
    assert isinstance(params, dict)
    knobs = ", ".join(f"{knob}={value}" for knob, value in params.items())
    return (
        f"{name}  {entry['lesson']}  {entry['workload']}  {', '.join(map(str, arms))}  "
        f"{knobs}  {entry['clock']} clock  {size:,} bytes"
    )


def summary(folder: ArchiveFolder, found: list[dict[str, JsonValue]]) -> str:
    """Say how full the archive is."""
    sizes = [entry["bytes"] for entry in found]
    total = sum(size for size in sizes if isinstance(size, int))
    return (
        f"{len(found)} of {folder.most} runs, {total / 2**20:.1f} of {folder.most_bytes >> 20} "
        f"MiB, in {folder.folder}. The oldest are deleted first."
    )
