# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of grids: listed apart from recordings, played like them, sent with the lesson."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgpack
import pytest

from duet.base.errors import InputError
from duet.cli.export import recordings_of
from duet.export.site import NoKernels, site_packets
from duet.lessons.load import load
from duet.server.director import Director
from duet.server.hosts import HostStage
from duet.server.lessons import LessonCache
from duet.server.own_arms import OwnLessons
from duet.server.recordings import ChosenRecordings, LessonRecordings, read_cells
from duet.stream.hub import Hub
from tests.support.gridded import (
    CELLS,
    ENTRIES,
    METRIC,
    RECORDING,
    SLUG,
    cell_file,
    gridded,
    read_list,
    write_list,
)


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lesson with one recording and two cells."""
    return gridded(root, tmp_path, monkeypatch)


def listed(recordings: LessonRecordings) -> list[object]:
    return [entry["name"] for entry in recordings.listing(SLUG)]


def cells(recordings: LessonRecordings) -> list[str]:
    return [cell.name for cell in recordings.cells(SLUG)]


def cache() -> LessonCache:
    return LessonCache(LessonRecordings(), NoKernels(), OwnLessons(None))


def test_cells_are_listed_apart_from_recordings(folder: Path) -> None:
    recordings = LessonRecordings()
    assert listed(recordings) == [RECORDING]
    assert cells(recordings) == list(CELLS)
    assert list(recordings.paths(SLUG)) == [RECORDING, *CELLS], "the recording is the first"
    assert recordings.file(SLUG, CELLS[0]) == cell_file(folder, CELLS[0])


def test_a_cell_says_what_it_is_of(folder: Path) -> None:
    first, second = LessonRecordings().cells(SLUG)
    assert (first.lesson, first.grid, first.clock, first.workload) == (
        SLUG, "entries", "count", "one-file",
    )  # fmt: skip
    assert [one.params["delayed"] for one in (first, second)] == [0, 32]
    assert first.arms == tuple(ENTRIES["arms"])
    assert set(first.values) == {METRIC} and set(first.values[METRIC]) == set(first.arms)
    assert first.bytes == cell_file(folder, first.name).stat().st_size
    assert first.host and first.recorded_at and first.window_ms is None


def test_a_cell_plays_as_a_recording(folder: Path, run_async: Any) -> None:
    run_id = f"recorded:{SLUG}:{CELLS[1]}"

    async def look() -> list[dict[str, Any]]:
        recordings = LessonRecordings()
        director = Director(Hub(), HostStage(None), recordings, NoKernels(), False, False)
        async with director:
            run = await director.find_run(run_id)
            return [msgpack.unpackb(packet.body) for packet in run.log.backlog()]

    seen = run_async(look())
    (run,) = [one for one in seen if one["type"] == "run"]
    assert run["run_id"] == run_id and run["source"] == "recorded"
    assert run["arms"] == ENTRIES["arms"]
    assert (run["params"]["delayed"], run["params"]["written"]) == (32, 256)
    assert {one["arm"] for one in seen if one["type"] == "batch" and one["n"]} == set(run["arms"])
    assert seen[-1]["type"] == "reading" and seen[-1]["whole"]


def test_without_a_name_the_recording_plays(folder: Path, run_async: Any) -> None:
    run = run_async(LessonRecordings().load(SLUG))
    assert run.log.run_id == f"recorded:{SLUG}:{RECORDING}"


def test_a_cell_that_is_not_there_is_refused(folder: Path, run_async: Any) -> None:
    with pytest.raises(InputError, match="has no recording 'grid-delayed-7'") as caught:
        run_async(LessonRecordings().load(SLUG, "grid-delayed-7"))
    assert caught.value.remedy == f"Choose from: {', '.join([RECORDING, *CELLS])}."


def test_a_cell_whose_file_is_missing_is_not_offered(folder: Path) -> None:
    recordings = LessonRecordings()
    assert cells(recordings) == list(CELLS)
    cell_file(folder, CELLS[0]).unlink()
    assert cells(recordings) == [CELLS[1]]
    assert CELLS[0] not in recordings.paths(SLUG)


def test_a_changed_list_is_read_again(folder: Path) -> None:
    recordings = LessonRecordings()
    first = recordings.cells(SLUG)
    assert recordings.cells(SLUG)[0] is first[0], "an unchanged list is not parsed again"
    entries = read_list(folder)
    entries[0]["values"][METRIC]["stock"] = 77.5
    write_list(folder, entries)
    assert recordings.cells(SLUG)[0].values[METRIC]["stock"] == 77.5
    (folder / "recorded/grid.json").unlink()
    assert recordings.cells(SLUG) == []


FOREIGN = ["", "{", "{}", "null", "[1]", '[{"name": "grid-delayed-0"}]', '{"tables": []}', "\xff"]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_list_that_is_none_gives_no_cells(folder: Path, text: str) -> None:
    path = folder / "recorded/grid.json"
    path.write_bytes(text.encode("latin-1"))
    assert LessonRecordings().cells(SLUG) == []
    with pytest.raises(InputError) as caught:
        read_cells(path)
    said = "grid.json is not a list of recorded cells that ./duet record --grid writes."
    assert caught.value.sentence == said
    assert caught.value.remedy.startswith(f"Delete {path}, and record the grid again")


def test_a_key_that_no_entry_has_is_refused(folder: Path) -> None:
    entries = read_list(folder)
    write_list(folder, [entries[0], entries[1] | {"colour": "red"}])
    assert LessonRecordings().cells(SLUG) == []


def test_the_list_of_another_lesson_gives_no_cells(folder: Path, root: Path) -> None:
    shutil.copy(root / "lessons/01-shrinker-bitmaps/recorded/grid.json", folder / "recorded")
    assert read_cells(folder / "recorded/grid.json")
    assert LessonRecordings().cells(SLUG) == []


@pytest.mark.parametrize("text", [None, "{", "[]"], ids=["missing", "damaged", "empty"])
def test_cells_without_a_list_do_not_become_recordings(folder: Path, text: str | None) -> None:
    path = folder / "recorded/grid.json"
    path.unlink()
    if text is not None:
        path.write_text(text)
    recordings = LessonRecordings()
    assert (listed(recordings), cells(recordings)) == ([RECORDING], [])
    assert list(recordings.paths(SLUG)) == [RECORDING, *CELLS], "they still play by their names"


def test_a_recording_that_is_called_like_a_cell_is_not_listed_as_one(folder: Path) -> None:
    """Lint reports it, because the name belongs to the cell."""
    shutil.copy(folder / f"recorded/{RECORDING}.duet", folder / f"recorded/{CELLS[0]}.duet")
    recordings = LessonRecordings()
    assert (listed(recordings), cells(recordings)) == ([RECORDING], list(CELLS))
    assert recordings.file(SLUG, CELLS[0]) == cell_file(folder, CELLS[0])


def test_the_bundles_of_a_lesson_are_its_recordings_and_its_cells(folder: Path) -> None:
    lesson = load(SLUG)
    assert [path.stem for path in lesson.recordings()] == [RECORDING]
    assert [path.stem for path in lesson.cells()] == list(CELLS)
    assert lesson.bundles() == {
        RECORDING: folder / f"recorded/{RECORDING}.duet",
        **{name: cell_file(folder, name) for name in CELLS},
    }
    assert list(lesson.bundles()) == [RECORDING, *CELLS]


def test_a_lesson_without_a_list_has_no_cells(folder: Path) -> None:
    (folder / "recorded/grid.json").unlink()
    assert read_cells(folder / "recorded/grid.json") == []


# The message with the lesson.


def test_the_lesson_has_its_cells(folder: Path) -> None:
    view = cache().view(SLUG)
    assert view.tree["cells"] == read_list(folder)
    message = msgpack.unpackb(view.packet.body)
    assert message["type"] == "lesson"
    assert message["lesson"]["cells"] == read_list(folder)
    assert [one["name"] for one in message["lesson"]["recordings"]] == [RECORDING]


def test_a_lesson_is_sent_anew_when_its_list_of_cells_changed(folder: Path) -> None:
    lessons = cache()
    first = lessons.view(SLUG)
    assert lessons.view(SLUG) is first
    entries = read_list(folder)
    entries[1]["values"][METRIC]["stock"] = 77.5
    write_list(folder, entries)
    assert lessons.view(SLUG).tree["cells"] == entries


def test_a_lesson_is_sent_anew_when_a_cell_was_deleted(folder: Path) -> None:
    lessons = cache()
    lessons.view(SLUG)
    cell_file(folder, CELLS[0]).unlink()
    assert lessons.view(SLUG).tree["cells"] == read_list(folder)[1:]
    sent = msgpack.unpackb(lessons.view(SLUG).packet.body)
    assert [one["name"] for one in sent["lesson"]["cells"]] == [CELLS[1]]


# A site.


def test_a_site_has_a_part_for_each_cell(folder: Path, run_async: Any) -> None:
    _, chosen = recordings_of(SLUG)
    sent = run_async(site_packets(SLUG, ChosenRecordings(SLUG, chosen)))
    assert list(sent.runs) == [f"recorded:{SLUG}:{name}" for name in (RECORDING, *CELLS)]
    for packets in sent.runs.values():
        assert {"run", "rows", "batch"} <= {packet.type for packet in packets}
    (lesson,) = [msgpack.unpackb(one.body) for one in sent.lesson if one.type == "lesson"]
    assert lesson["lesson"]["cells"] == read_list(folder)


def test_a_site_of_one_recording_offers_no_cells(folder: Path, run_async: Any) -> None:
    """Their parts are not in it."""
    chosen = {RECORDING: folder / f"recorded/{RECORDING}.duet"}
    sent = run_async(site_packets(SLUG, ChosenRecordings(SLUG, chosen)))
    (lesson,) = [msgpack.unpackb(one.body) for one in sent.lesson if one.type == "lesson"]
    assert lesson["lesson"]["cells"] == [] and list(sent.runs) == [f"recorded:{SLUG}:{RECORDING}"]


def test_a_site_of_one_cell_has_its_part(folder: Path, run_async: Any) -> None:
    _, chosen = recordings_of(f"{SLUG}/{CELLS[1]}")
    assert chosen == {CELLS[1]: cell_file(folder, CELLS[1])}
    sent = run_async(site_packets(SLUG, ChosenRecordings(SLUG, chosen)))
    assert list(sent.runs) == [f"recorded:{SLUG}:{CELLS[1]}"]
    (lesson,) = [msgpack.unpackb(one.body) for one in sent.lesson if one.type == "lesson"]
    assert [one["name"] for one in lesson["lesson"]["cells"]] == [CELLS[1]]
