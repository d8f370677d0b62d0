# SPDX-License-Identifier: GPL-2.0-or-later
"""capacity.json: samples of this machine replace shipped figures; a damaged or old file is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InputError
from duet.plugins.cluster.capacity import constants as measured
from duet.plugins.cluster.capacity.constants import (
    CONSTANTS,
    SAMPLES,
    figures,
    read,
    record,
    shipped,
)

HOST = {"cpu": "a", "cpus": "2", "memory_gib": "24", "kernel": "6.1"}
OTHER = HOST | {"cpus": "64"}


def put(path: Path, host: dict[str, str] = HOST, **values: float) -> int:
    return record(path, values, host, "0.1.0", 0.5)


def test_samples_of_this_machine_count_and_others_do_not(tmp_path: Path) -> None:
    path = tmp_path / "new" / "capacity.json"
    assert read(path) == [] and figures([], HOST) == shipped()
    assert put(path, open_server=2.0, run_time=12.0) == 2
    assert put(path, open_server=4.0) == 1
    assert put(path, OTHER, open_server=50.0) == 1
    found = figures(read(path), HOST)
    known = found["open_server"]
    assert (known.samples, len(known.at)) == (2, 10)
    assert (known.figure.low, known.figure.high) == (2.0, 4.0)
    assert found["open_nginx"] == shipped()["open_nginx"]
    newer = figures(read(path), HOST | {"kernel": "6.12"})
    assert newer["open_server"].samples == 2, "a kernel's update is no other machine"
    assert figures(read(path), OTHER)["open_server"].samples == 1
    assert json.loads(path.read_text())["samples"][0]["host"] == HOST


def test_one_sample_has_the_spread_that_others_had(tmp_path: Path) -> None:
    path = tmp_path / "capacity.json"
    put(path, run_time=100.0)
    figure = figures(read(path), HOST)["run_time"].figure
    ships = CONSTANTS["run_time"].shipped
    assert figure.low < 100 < figure.high
    assert figure.high / figure.low == pytest.approx(ships.high / ships.low)


def test_the_newest_samples_stay(tmp_path: Path) -> None:
    path = tmp_path / "capacity.json"
    for n in range(SAMPLES + 3):
        put(path, run_time=10.0 + n)
    values = [one.value for one in read(path)]
    assert values == [10.0 + n for n in range(3, SAMPLES + 3)]
    for n in range(measured.MACHINES + 2):
        put(path, HOST | {"cpu": f"m{n}"}, run_time=10.0)
    machines = {one.host["cpu"] for one in read(path)}
    assert len(machines) == measured.MACHINES and "m0" not in machines and "a" not in machines


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), 1e12])
def test_what_is_no_measurement_is_not_stored(tmp_path: Path, value: float) -> None:
    assert put(tmp_path / "capacity.json", run_time=value) == 0
    assert read(tmp_path / "capacity.json") == []


def sample(**change: Any) -> dict[str, Any]:
    base = {"name": "run_time", "value": 9.0, "at": "2026-11-26", "program": "0.1.0"}
    return base | {"host": HOST, "load": 0.1} | change


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is damaged at its text"),
        ("[" * 5000, "is damaged at its text"),
        ('{"version": 1}', "is damaged at samples"),
        (
            json.dumps({"version": 0, "samples": []}),
            "has format 0, but this version reads format 1",
        ),
        (
            json.dumps({"version": 1, "samples": [sample(name="x" * 150)]}),
            "which is not a constant",
        ),
        (json.dumps({"version": 1, "samples": [sample(value=1e9)]}), "which is implausible"),
        (json.dumps({"version": 1, "samples": [sample(value=-1)]}), "samples.0.value"),
        (json.dumps({"version": 1, "samples": [sample(value="NaN")]}), "samples.0.value"),
        (json.dumps({"version": 1, "samples": [sample(more=1)]}), "samples.0.more"),
        (json.dumps({"version": 1, "samples": [sample(host={"a": "b" * 300})]}), "samples.0.host"),
        (json.dumps({"version": 1, "samples": [sample(at="yesterday")]}), "samples.0.at"),
        (" " * (measured.FILE_BYTES + 1), "is longer than 1 MiB"),
    ],
    ids=range(12),
)
def test_a_hostile_or_old_file_is_refused_with_a_sentence(
    tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "capacity.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert why in caught.value.sentence and str(path) in caught.value.sentence
    assert len(caught.value.sentence) < 400 + len(str(path))
    assert caught.value.remedy.startswith("Delete the file")
    with pytest.raises(InputError):
        put(path, run_time=9.0)
    assert path.read_text() == text, "left as it was"


def test_a_folder_in_its_place_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "capacity.json").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "capacity.json")
