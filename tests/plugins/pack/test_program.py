# SPDX-License-Identifier: GPL-2.0-or-later
"""What ./measure runs first, and what it leaves out; wrappers and hashes of a pack."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.lessons.load import LessonFolder
from duet.measure.elsewhere import PackedJob
from duet.measure.plan import all_steps
from duet.measure.published import published_plans
from duet.plugins.pack.program import Pace, host_facts, host_name, ordered, read_time
from duet.plugins.pack.unpack import PackDamaged, check, environment_of, write_wrappers


def jobs_of(folder: LessonFolder) -> list[PackedJob]:
    return [
        PackedJob.model_validate({**PackedJob.fields_of(plan), "published": True, "needs_cpus": 1})
        for plan in published_plans(folder, every=True).values()
    ]


def test_what_only_many_cpus_can_test_comes_first(lesson02: LessonFolder) -> None:
    jobs = jobs_of(lesson02)
    jobs[-1] = jobs[-1].model_copy(update={"needs_cpus": 12})
    places = ordered(jobs)
    assert places[0] == len(jobs) - 1
    clocks = [jobs[number].clock for number in places[1:]]
    assert clocks == sorted(clocks, reverse=True)  # wall before count
    walls = [len(all_steps(jobs[n].plan())) for n in places[1:] if jobs[n].clock == "wall"]
    assert walls == sorted(walls)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("8m", 480), ("1.5h", 5400), ("2", 120)]
)
def test_times(text: str, seconds: float) -> None:
    assert read_time(text) == seconds


@pytest.mark.parametrize("text", ["", "8 m", "m", "-1m", "1d"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--time needs a time such as 8m"):
        read_time(text)


def test_the_pace_is_learnt(lesson02: LessonFolder) -> None:
    job, pace = jobs_of(lesson02)[0], Pace()
    runs = len(all_steps(job.plan()))
    pace.learn(job, 3.0 * runs)
    assert pace.seconds(job) == pytest.approx(3.0 * runs)


def test_facts_name_no_machine() -> None:
    facts = host_facts()
    assert {"cpu", "cpus", "cores", "smt", "governor", "kernel", "load"} <= set(facts)
    assert len(host_name(facts)) <= 60
    assert (
        host_name({"cpus": "16", "cpu": "Intel(R) Xeon(R) CPU X @ 2.0GHz"}) == "16 x Intel Xeon X"
    )


def test_wrappers_start_programs_with_the_packs_own_loader(tmp_path: Path) -> None:
    folder = tmp_path / "a pack"
    (folder / "libexec").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "libexec/qemu-system-x86_64").touch()
    loader = folder / "lib/ld-linux-x86-64.so.2"
    loader.write_text('#!/bin/sh\nprintf "%s\\n" "$QEMU_MODULE_DIR" "$@"\n')
    loader.chmod(0o755)
    write_wrappers(folder)
    path = folder / "bin/qemu-system-x86_64"
    said = subprocess.run([path, "-M", "a b"], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        str(folder / "lib/qemu"), "--library-path", str(folder / "lib"), "--argv0", str(path),
        str(folder / "libexec/qemu-system-x86_64"), "-L", str(folder / "share/qemu"), "-M", "a b",
    ]  # fmt: skip
    assert environment_of(folder)["PATH"].startswith(f"{folder / 'bin'}:")


def test_a_changed_file_is_found(tmp_path: Path) -> None:
    content = b"kernel"
    (tmp_path / "bzImage").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "pack.json").write_text(json.dumps({"files": {"bzImage": digest}}))
    check(tmp_path)
    (tmp_path / "bzImage").write_bytes(b"another")
    with pytest.raises(PackDamaged, match="bzImage has changed"):
        check(tmp_path)
    (tmp_path / "bzImage").unlink()
    with pytest.raises(PackDamaged, match="bzImage cannot be read"):
        check(tmp_path)
