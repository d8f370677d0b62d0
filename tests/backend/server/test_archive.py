# SPDX-License-Identifier: GPL-2.0-or-later
"""Saved runs: bounded, listed, played, compared and deleted; live runs are saved at their end."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import stat
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duet.api.app import create_app
from duet.base.errors import InfraError, InputError
from duet.bundle import open_bundle, read_manifest
from duet.cli.entry import main
from duet.lessons.load import load
from duet.runs.replay import play_bundle
from duet.server.archive import ArchivedRuns, ArchiveFolder, Saved, victims
from duet.server.director import Director
from tests.support.real_server import keyed, look, real_app
from tests.support.toy_server import SLUG, page, serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage

NINE = load(SLUG).folder / "recorded/9-hogs.duet"
THREE = load(SLUG).folder / "recorded/3-hogs.duet"


def folder(path: Path, most: int = 10, most_bytes: int = 1 << 30) -> ArchiveFolder:
    return ArchiveFolder(path / "runs", most, most_bytes)


def at(second: int) -> datetime:
    return datetime(2026, 11, 22, 10, 0, second, tzinfo=UTC)


def request(address: str, method: str, path: str, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address, timeout=120)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


# the folder


def test_the_oldest_go_first_by_count_and_by_bytes(tmp_path: Path) -> None:
    saved = folder(tmp_path, most=3)
    names = [saved.save(b"x" * 10, at(second)) for second in range(5)]
    for second, name in enumerate(names[2:]):
        os.utime(saved.folder / f"{name}.duet", (second, second))
    assert list(saved.paths()) == names[:1:-1]
    small = folder(tmp_path, most_bytes=25)
    newest = small.save(b"y" * 10, at(9))
    assert list(small.paths()) == [newest, names[4]]


def test_a_run_that_is_larger_than_all_room_is_not_kept_and_takes_nothing_away(
    tmp_path: Path,
) -> None:
    saved = folder(tmp_path, most_bytes=100)
    first = saved.save(b"x" * 90)
    assert saved.save(b"x" * 101) is None
    assert list(saved.paths()) == [first]
    assert folder(tmp_path, most=0).save(b"x") is None


def test_two_runs_of_one_second_have_two_names(tmp_path: Path) -> None:
    saved = folder(tmp_path)
    names = [saved.save(b"x", at(0)) for _ in range(3)]
    assert names == [
        "run-20261122-100000", "run-20261122-100000-2", "run-20261122-100000-3"
    ]  # fmt: skip
    assert not list(saved.folder.glob("*.part"))


def test_what_was_being_written_long_ago_is_cleared_other_files_stay(tmp_path: Path) -> None:
    saved = folder(tmp_path, most=1)
    saved.save(b"x", at(0))
    stale, fresh, other = (saved.folder / name for name in ("a.part", "b.part", "notes.txt"))
    for path in (stale, fresh, other):
        path.write_text("")
    long_ago = time.time() - 7200
    os.utime(stale, (long_ago, long_ago))
    saved.save(b"x", at(1))
    assert [path.exists() for path in (stale, fresh, other)] == [False, True, True]


@pytest.mark.parametrize("name", ["run-20261122-100000", "../x", "notes", ""])
def test_an_unknown_name_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no saved run"):
        folder(tmp_path).delete(name)


def test_a_folder_that_cannot_be_written_is_trouble_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(InfraError, match="could not be saved"):
        folder(tmp_path).save(b"x")


def test_only_a_usable_recording_is_added(tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt.duet"
    spoilt.write_bytes(b"PK no zip")
    with pytest.raises(InputError, match="cannot be used"):
        folder(tmp_path).add(spoilt)
    with pytest.raises(InputError, match="larger than the limit on saved runs"):
        folder(tmp_path, most_bytes=1000).add(NINE)


@pytest.mark.parametrize("value", ["many", "-1", "1000001", "1.5"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("DUET_SAVED_RUNS", value)
    with pytest.raises(InputError, match="DUET_SAVED_RUNS must be a whole number"):
        ArchiveFolder.default()


# the verb


def test_the_verb_lists_adds_and_deletes_and_others_take_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path))
    assert main(["runs", "--add", str(NINE), "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    (run,) = tree["runs"]
    assert (run["name"], run["lesson"], run["bytes"]) == (
        tree["added"], SLUG, NINE.stat().st_size
    )  # fmt: skip
    assert main(["inspect", run["name"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["params"]["hogs"] == 9
    assert main(["runs"]) == 0
    assert "hogs=9" in capsys.readouterr().out
    assert main(["runs", "--delete", run["name"]]) == 0
    assert main(["inspect", run["name"]]) == 2
    assert "there is no saved run" in capsys.readouterr().err
    assert main(["runs", "--delete", "x", "--add", str(NINE)]) == 2


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nonsense", "is not a recording"),
        (f"{SLUG}/nine", "has no recording 'nine'"),
        ("99-nothing/x", "99-nothing"),
    ],
)
def test_a_word_that_means_no_recording_is_refused(
    word: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", word]) == 2
    error = capsys.readouterr().err
    assert said in error and "remedy:" in error


# the server


def test_a_kept_run_plays_as_the_recording_that_it_is(
    root: Path, tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path / "runs"))
    name = ArchiveFolder.default().add(NINE)
    spoilt = tmp_path / "runs/run-20200101-000000.duet"
    spoilt.write_bytes(b"PK")
    with serving(real_app(tmp_path / "cache", root)) as address:
        _, listed = request(address, "GET", f"/api/kept?lesson={SLUG}")
        assert [run["name"] for run in listed] == [name]
        _, everything = request(address, "GET", "/api/kept")
        assert {run["name"]: run["lesson"] for run in everything}[spoilt.stem] is None
        saved = run_async(look(address, f"kept:{SLUG}:{name}")).seen
        plain = run_async(look(address, f"recorded:{SLUG}:9-hogs")).seen

        assert keyed(saved) == keyed(plain)
        assert len(keyed(saved)) > 10
        status, error = request(
            address, "DELETE", f"/api/kept/{name}", Origin="http://evil.example"
        )
        assert status == 403 and "change it" in error["error"]["sentence"]
        assert request(address, "DELETE", f"/api/kept/{name}")[0] == 200
        status, error = request(address, "DELETE", f"/api/kept/{name}")
        assert status == 404 and error["error"]["remedy"]
        assert request(address, "GET", f"/api/kept?lesson={SLUG}")[1] == []


def test_two_runs_are_compared_their_differences_first(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path / "runs"))
    name = ArchiveFolder.default().add(THREE)
    with serving(real_app(tmp_path / "cache", root)) as address:
        ids = f"first=kept:{SLUG}:{name}&second=recorded:{SLUG}:9-hogs"
        status, tree = request(address, "GET", f"/api/compare?{ids}")
        assert status == 200
        hogs = next(d for d in tree["differences"] if d["what"] == "hogs")
        assert (hogs["recorded"], hogs["now"]) == ("3", "9")
        ops = {row["arm"]: row for row in tree["figures"] if row["figure"] == "ops"}
        played = asyncio.run(play_bundle(load(SLUG), open_bundle(NINE)))
        for arm, row in ops.items():
            figures = played.figures(arm)
            assert figures is not None and row["now"] == figures.ops
        status, error = request(address, "GET", f"/api/compare?first=x&second=kept:{SLUG}:x")
        assert status == 404 and "is neither a recording" in error["error"]["sentence"]


def test_recordings_of_two_lessons_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{SLUG}/3-hogs", "04-extent-shrinker/one-file"]) == 2
    assert "belongs to lesson" in capsys.readouterr().err
    assert main(["compare", f"{SLUG}/3-hogs", f"{SLUG}/9-hogs"]) == 0
    out = capsys.readouterr().out
    assert out.index("hogs: 3 in the first, 9 in the second") < out.index("ops_per_s")


def test_a_live_run_is_saved_under_its_id_and_its_link_never_dies(
    tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The toy stage runs no kernels, so its runs hand over a real recording as their bundle."""
    saved = folder(tmp_path)
    go_on = threading.Event()

    class Stage(ToyStage):
        def prepare(self, *given: Any) -> Any:
            run = super().prepare(*given)

            def packed() -> bytes:
                assert go_on.wait(60)
                return THREE.read_bytes()

            monkeypatch.setattr(run, "bundle", packed)
            return run

    def director(hub: Any) -> Director:
        stage = Stage(speed=20.0)
        return Director(hub, stage, ToyRecordings(), ToyKernels(), False, True, ArchivedRuns(saved))

    async def run(address: str) -> str:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", "srcu", seconds=1)
            run_id = await one.begun()
            await one.until_over()
            await one.open(run_id)
            # Answered while the run is being packed.
            assert (await one.until_type("run", run_id=run_id))["source"] == "live"
            assert not saved.paths()
            go_on.set()
            for _ in range(4000):
                if saved.paths():
                    break
                await asyncio.sleep(0.05)
            # Newer runs take its place in memory; its link opens the file.
            for hogs in (1, 2):
                await one.start("srcu", hogs=hogs, seconds=1)
                await one.until_over()
            await one.open(run_id)
            again = await one.until_type("run", run_id=run_id)
            assert again["source"] == "recorded"
            await one.until_type("reading", whole=True)
            return run_id

    with serving(create_app(director, page=tmp_path)) as address:
        run_id = run_async(run(address))
    path = saved.path(run_id.rpartition(":")[2])
    assert path.read_bytes() == THREE.read_bytes()
    shutil.rmtree(saved.folder)


# clocks and broken files


def test_a_clock_that_steps_back_costs_no_run_just_saved(tmp_path: Path) -> None:
    saved = folder(tmp_path, most=2)
    future = time.time() + 3600
    for second in range(2):
        name = saved.save(b"x" * 10, at(second))
        os.utime(saved.path(str(name)), (future, future))
    last = saved.save(b"x" * 10, at(9))
    assert last in saved.paths()
    assert len(saved.paths()) == 2


def test_a_broken_file_is_looked_at_once_and_never_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = folder(tmp_path)
    (saved.folder).mkdir()
    (saved.folder / "run-20261122-100000.duet").write_bytes(b"PK\5\6" + b"\0" * 18)
    shutil.copy(THREE, saved.folder / "run-20261122-100001.duet")
    looked: list[Path] = []

    def whole(path: Path) -> None:
        raise AssertionError(f"{path.name} was unpacked for a listing")

    def manifest(path: Path) -> Any:
        looked.append(path)
        return read_manifest(path)

    monkeypatch.setattr("duet.server.recordings.open_bundle", whole)
    monkeypatch.setattr("duet.server.recordings.read_manifest", manifest)
    runs = ArchivedRuns(saved)
    first = runs.all()
    assert runs.all() == first
    assert {run["lesson"] for run in first} == {None, SLUG}
    assert len(looked) == 2


# owners


ANNE, BERT = "a" * 16, "b" * 16


def test_one_owners_many_runs_push_out_nobody_elses(tmp_path: Path) -> None:
    saved = folder(tmp_path, most=40)
    hers = [saved.save(b"x" * 10, at(second), ANNE) for second in range(15)]
    old = saved.save(b"x" * 10, at(15))
    his = [saved.save(b"x" * 10, at(16), BERT) for _ in range(41)]
    left = saved.paths()
    assert len(left) == 40
    assert {*hers, old, *his[-24:]} == set(left)
    assert saved.owner(str(hers[0])) == ANNE and saved.owner(str(old)) == ""
    assert len(list(saved.folder.glob("*.owner"))) == 39


def test_large_runs_of_one_push_out_no_small_ones_of_another(tmp_path: Path) -> None:
    saved = folder(tmp_path, most_bytes=100)
    small = saved.save(b"x" * 10, at(0), ANNE)
    names = [saved.save(b"x" * 40, at(second), BERT) for second in range(1, 5)]
    assert set(saved.paths()) == {small, *names[-2:]}


def test_what_was_saved_just_now_stays_even_if_its_owner_has_most(tmp_path: Path) -> None:
    runs = [Saved("new", 50, ANNE), Saved("other", 30, BERT), Saved("old", 30, "")]
    assert victims(runs, 3, 60, spare={"new"}) == ["old", "other"]
    assert victims(runs, 0, 0, spare={"new"}) == ["old", "other"]
    assert victims(runs, 3, 110, spare={"new"}) == []


def test_runs_of_a_class_stay_while_it_goes_on_within_half_of_what_is_saved(tmp_path: Path) -> None:
    saved = folder(tmp_path, most=4, most_bytes=100)
    of_class = [str(saved.save(b"x" * 10, at(second), ANNE)) for second in range(3)]
    saved.held.pin(list(reversed(of_class)))
    for second in range(10, 20):
        saved.save(b"x" * 10, at(second), BERT)
    left = set(saved.paths())
    assert left.isdisjoint(of_class[:1]) and left.issuperset(of_class[1:]) and len(left) == 4
    assert saved.held.pinned_among(dict.fromkeys(of_class, 30), 2, 50) == {of_class[2]}
    saved.held.pin([])
    for second in range(30, 40):
        saved.save(b"x" * 10, at(second), BERT)
    assert len(saved.paths()) == 4


def test_a_deleted_runs_name_brings_its_next_owner_no_rights(tmp_path: Path) -> None:
    saved = folder(tmp_path)
    name = str(saved.save(b"x", at(0), ANNE))
    saved.delete(name)
    assert saved.save(b"x", at(0)) == name and saved.owner(name) == ""
    assert stat.S_IMODE((saved.folder / f"{name}.duet").stat().st_mode) == 0o644
    (saved.folder / f"{name}.owner").write_text("../../etc/passwd")
    assert saved.owner(name) == ""
