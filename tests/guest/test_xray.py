# SPDX-License-Identifier: GPL-2.0-or-later
"""The x-ray on live guests: every probe against what the guest itself says, and every fault."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from duet.base.settings import repo_root
from duet.bundle import open_bundle
from duet.cli.arguments import read_request
from duet.guests.qemu import QMP_SOCKETS
from duet.kernels import KernelSettings
from duet.lenses import Sample, Wanted
from duet.lessons.load import load
from duet.runs.sources import bundle_sources, kernel_sources
from duet.session import LaneGuests, RunSession, RunSpec
from tests.support.xray_driver import Look, columns, look, raw_xray

pytestmark = pytest.mark.guest

BITMAPS = "01-shrinker-bitmaps"
GRACE = "02-grace-periods"


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A place for run directories that nobody else uses; sockets want short paths."""
    with tempfile.TemporaryDirectory(prefix="x-") as folder:
        yield Path(folder)


VARIABLES = (
    "nr_files", "shrinker_srcu.srcu_gp_seq", "runqueues.nr_switches", "init_task.comm",
    "init_task.mm->pgd", "init_task.parent->pid", "vm_node_stat",
)  # fmt: skip
"""A percpu_counter, a field, a per-CPU field, text, a NULL pointer, a pointer, an array."""


def check_variables(seen: dict[str, list[Sample]], grace_periods: list[Sample]) -> None:
    """Each variable by its facts, columns and texts."""
    assert all(len(samples) > 3 for samples in seen.values())
    files = seen["nr_files"][-1]
    assert files.facts["found"] == 1 and 5 < files.facts["value"] < 5000, "open files of a guest"
    assert files.facts["address48"] and "count" in files.texts and "counters" in files.texts
    assert files.facts["size"] == len(columns(files)["bytes"]) and files.facts["cpus"] == 0
    assert columns(files)["offset"][files.texts.index("lock")] == 0
    counts = [sample.facts["value"] for sample in seen["shrinker_srcu.srcu_gp_seq"]]
    assert counts == sorted(counts) and counts[0] < counts[-1]
    known = [sample.facts["srcu_gp_seq"] for sample in grace_periods]
    assert known[0] - 40 <= counts[0] and counts[-1] <= known[-1] + 40
    switches = seen["runqueues.nr_switches"]
    each = [columns(sample)["cpu_value"] for sample in switches]
    assert switches[0].facts["cpus"] == len(each[0]) == 2
    assert (each[-1] > each[0]).all() and switches[-1].facts["value"] == each[-1].sum()
    comm = seen["init_task.comm"][0]
    assert bytes(columns(comm)["bytes"].tobytes()).startswith(b"swapper/0\0")
    assert comm.texts[0] == "[0]" and columns(comm)["value"][0] == ord("s")
    assert "value" not in comm.facts
    assert {sample.facts["found"] for sample in seen["init_task.mm->pgd"]} == {0}
    assert seen["init_task.parent->pid"][0].facts["value"] == 0, "swapper is its own parent"
    assert seen["vm_node_stat"][0].n > 20 and columns(seen["vm_node_stat"][0])["value"].max() > 100


def line_of(run: Look, pattern: str) -> dict[str, int]:
    """Whole numbers `key=value` of the workload's own line."""
    text = next(line.text for line in run.result.lines if re.search(pattern, line.text))
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)(?=\s|$)", text)}


@pytest.mark.alone
@pytest.mark.parametrize(("arm", "clock"), [("before", "count"), ("after", "wall")])
def test_shrinker_maps_are_what_the_guest_says(arm: str, clock: str) -> None:
    # On the wall clock stock is over between two looks: there the containers stay for a while.
    live = {"workload": "containers-live", "knobs": ["n=100", "seconds=2"]}
    given = live if clock == "wall" else {"knobs": ["n=200"]}
    run = look(BITMAPS, arm, Wanted("shrinker-maps", 30), clock=clock, **given)
    there = line_of(run, r"^containers: containers=")
    sample = run.largest()
    assert (sample.facts["memcgs"], sample.facts["shrinkers"]) == (
        there["memcgs"],
        there["shrinkers"],
    )
    found = columns(sample)
    words = int(sample.facts["words"])
    maps = found["map"].reshape(sample.n, words)
    assert sample.n == there["memcgs"] + 1 == len(set(found["ino"].tolist()))
    assert np.unpackbits(maps.view("u1"), axis=1).sum(axis=1).tolist() == found["set"].tolist()
    assert len(set(found["ids"].tolist())) == there["shrinkers"]
    assert found["ids"].max() < sample.facts["nr_max"] <= 32 * words
    assert (found["depth"] == 0).sum() == 1 and found["depth"].max() == 2
    assert run.lens.state == "on" and run.lens.route == "memory"
    assert run.lens.failed == 0


def test_shrinkers_have_the_names_that_debugfs_has() -> None:
    # On the same run: variables by name, against what other probes and the guest say.
    wanted = [Wanted("shrinker-list", 10), Wanted("srcu-gp", 10)]
    wanted += [Wanted("variable", 10, of) for of in VARIABLES]
    run = look(GRACE, "srcu", *wanted, clock="wall", knobs=["seconds=2", "hogs=9"])
    looks = {name: [s for s, _ in run.samples if s.probe == name] for name in run.probes()}
    shrinkers = max(looks["shrinker-list"], key=lambda sample: sample.n)
    names = shrinkers.texts
    assert {"rcu-kfree-0", "sb-tmpfs-1"} <= set(names)
    # A ramfs is on the list between its mount and its umount, not in every sample.
    seen = {name for sample in looks["shrinker-list"] for name in sample.texts}
    assert any(re.fullmatch(r"sb-ramfs-\d+", name) for name in seen), seen
    found = columns(shrinkers)
    assert all(name.endswith(f"-{n}") for name, n in zip(names, found["debugfs"], strict=True))
    check_variables({of: looks[f"variable:{of}"] for of in VARIABLES}, looks["srcu-gp"])


@pytest.mark.alone
@pytest.mark.parametrize(("arm", "srcu"), [("srcu", True), ("rwsem", False)])
def test_grace_periods_count_up_and_an_arm_without_srcu_has_none(arm: str, srcu: bool) -> None:
    run = look(GRACE, arm, Wanted("srcu-gp", 30), clock="wall", knobs=["seconds=2"])
    assert run.lens.state == "on" and len(run.samples) > 20
    names = run.largest().texts
    assert names == (["shrinker_srcu"] if srcu else []) + ["rcu", "expedited"]
    series = [columns(sample)["seq"] for sample, _ in run.samples]
    assert all((b >= a).all() for a, b in itertools.pairwise(series))
    assert (series[-1] > series[0]).all()
    if srcu:
        assert all(s.facts["readers_0"] + s.facts["readers_1"] >= 0 for s, _ in run.samples)


@pytest.mark.alone
def test_inodes_queue_up_on_each_cpu() -> None:
    knobs = ["batch=256", "files=8192"]
    run = look("03-inode-recycling", "stock", Wanted("inodegc", 30), clock="wall", knobs=knobs)
    assert run.lens.state == "on"
    found = [columns(sample) for sample, _ in run.samples]
    assert {len(one["cpu"]) for one in found[1:-1]} <= {0, 2}
    assert max(sample.facts["items"] for sample, _ in run.samples) > 0
    seen = [one for one in found if len(one["ino"])]
    assert seen, "no list was seen with an inode on it"
    for one in seen:
        assert one["listed"].sum() == len(one["ino"]) == len(one["on"])


@pytest.mark.alone
def test_extents_have_their_letters() -> None:
    run = look("04-extent-shrinker", "stock", Wanted("es-tree", 20), clock="count", knobs=[])
    assert run.lens.state == "on"
    best = max(
        (s for s, _ in run.samples), key=lambda s: min(s.facts["written"], s.facts["delayed"])
    )
    assert best.facts["written"] > 0 and best.facts["delayed"] > 0
    for sample, _ in run.samples:
        found = columns(sample)
        assert sample.facts["extents"] == sample.n == len(found["ino"])
        for ino in set(found["ino"].tolist()):
            its = found["ino"] == ino
            first, length = found["lblk"][its].astype("i8"), found["len"][its].astype("i8")
            assert (first[1:] >= first[:-1] + length[:-1]).all(), "a torn walk was not found"
    assert best.facts["bytes"] == 40


@pytest.mark.alone
def test_an_evictable_list_makes_its_entries_longer() -> None:
    wanted = Wanted("es-tree", 10)
    run = look("04-extent-shrinker", "evictable-list", wanted, clock="count", knobs=[])
    assert run.largest().facts["bytes"] == 56


@pytest.mark.alone
def test_the_dentry_is_found_by_its_name() -> None:
    knobs = ["name_length=24", "seconds=2", "tasks=2"]
    wanted = Wanted("dentry", 10, of="?" * 24)
    run = look("05-cacheline-pingpong", "stock", wanted, clock="wall", knobs=knobs)
    sample = next(s for s, _ in run.samples if s.facts["found"])
    assert (sample.facts["size"], sample.facts["name_length"]) == (192, 24)
    assert sample.facts["inline_name"] == 1
    found = columns(sample)
    at = dict(zip(sample.texts, found["offset"].tolist(), strict=True))
    assert (at["d_iname"], at["d_lockref"], at["d_lockref.count"]) == (56, 88, 92)
    assert len(found["bytes"]) == 192
    parts = dict(zip(sample.texts, found["size"].tolist(), strict=True))
    assert (parts["d_iname"], parts["d_lockref"], parts["d_name.len"]) == (32, 8, 4)


def test_wrong_dwarf_is_one_sentence_and_the_lane_goes_on(images_of: Any) -> None:
    wrong = images_of(GRACE)["rwsem"].vmlinux
    run = look(GRACE, "srcu", Wanted("srcu-gp"), clock="wall", knobs=["seconds=1"], vmlinux=wrong)
    assert run.lens.state == "failed" and not run.samples
    assert "has no usable debug information" in run.lens.message and run.lens.remedy
    assert run.result.error is None and run.result.ops


def test_a_field_that_is_not_there_is_one_sentence_and_other_probes_go_on() -> None:
    wanted = (Wanted("srcu-gp", 10, of="no_such_srcu"), Wanted("shrinker-list", 10))
    run = look(GRACE, "rwsem", *wanted, clock="wall", knobs=["seconds=1"])
    assert run.lens.state == "on"
    assert "there is no variable no_such_srcu" in run.lens.message
    assert {sample.probe for sample, _ in run.samples} == {"shrinker-list"}
    run = look(GRACE, "rwsem", wanted[0], clock="wall", knobs=["seconds=1"])
    assert run.lens.state == "failed" and not run.samples
    assert run.result.error is None


def test_a_guest_that_dies_under_the_read_ends_only_its_lane() -> None:
    run = look(
        GRACE, "srcu", Wanted("srcu-gp", 30), clock="wall", knobs=["seconds=20"], kill_after=30
    )
    assert run.result.error is not None and "SIGKILL" in run.result.error.sentence
    assert run.lens.state == "failed" and run.lens.message
    assert len(run.samples) >= 30


def test_an_xray_that_dies_takes_no_lane_with_it() -> None:
    run = look(
        GRACE, "srcu", Wanted("srcu-gp", 30), clock="wall", knobs=["seconds=2"],
        kill_after=10, kill="xray",
    )  # fmt: skip
    assert run.result.error is None and run.result.ops
    assert run.lens.state == "failed" and "ended by itself" in run.lens.message


@pytest.mark.alone
def test_samples_lie_where_the_guests_own_clock_is(boot: Any, kernel_images: Any) -> None:
    """Host time, calibrated by the agent's frames, against the time in the guest's memory."""
    run = look(GRACE, "srcu", Wanted("srcu-gp", 30), clock="wall", knobs=["seconds=3"])
    assert len(run.samples) > 50
    origin = run.origin_ns
    for sample, t_ns in run.samples:
        assert sample.clock == "host"
        assert t_ns == sample.at_ns - origin
        before, after, tick = run.own[sample.seq]
        assert sample.at_ns + sample.error_ns >= before
        # Nine hogs never idle, so a tick was never far away; a busy host may hold one up.
        assert sample.at_ns - sample.error_ns <= after + tick + 200_000_000
    errors = sorted(sample.error_ns for sample, _ in run.samples)
    assert errors[len(errors) // 2] < 20_000_000


def test_a_measure_run_and_a_lesson_without_it_attach_nothing() -> None:
    request = read_request(BITMAPS, "after", "", "count", ["n=10"])
    spec = RunSpec(
        request.folder,
        ("after",),
        "containers",
        request.params,
        "count",
        purpose="measure",
        run_id="r",
    )
    assert request.folder.lesson.xray and not spec.lens
    bare = read_request(GRACE, "srcu", "", "wall", [])
    assert not RunSpec(bare.folder, ("srcu",), "storm", bare.params, "wall", run_id="r").lens


def test_the_slow_route_is_reported(boot: Any, kernel_images: Any, tmp_path: Path) -> None:
    """Through a relay drgn cannot see QEMU's process, so it falls back to QMP text."""
    tmp_path.chmod(0o711)  # the x-ray's process has another user

    async def attach() -> tuple[str, str]:
        async with boot("srcu") as driver:
            vmlinux = kernel_images["srcu"].vmlinux
            socket = driver.guest.facts.qmp_socket.with_name(QMP_SOCKETS["xray"])
            uid = driver.guest.facts.uid
            fast = await raw_xray(socket, vmlinux, uid)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.support.qmp_relay",
                str(socket),
                str(tmp_path / "r.sock"),
                cwd=repo_root(),
                stdout=asyncio.subprocess.PIPE,
            )
            assert process.stdout is not None
            try:
                assert await asyncio.wait_for(process.stdout.readline(), 120)
                return fast, await raw_xray(tmp_path / "r.sock", vmlinux, uid)
            finally:
                with contextlib.suppress(ProcessLookupError):  # it ends with its client
                    process.kill()
                await process.wait()

    assert asyncio.run(attach()) == ("memory", "qmp")


def test_xray_prints_the_documented_keys() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "duet", "xray", BITMAPS, "shrinker-maps", "--arm=after", "--json"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tree = json.loads(done.stdout)
    wanted = {"memcgs", "shrinkers", "bits_set", "sample_ms", "torn", "failed", "dropped", "route"}
    assert set(tree) >= wanted
    assert tree["memcgs"] == 57 and tree["shrinkers"] >= 56 and tree["bits_set"] > 0


def test_xray_refuses_what_it_does_not_know() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "duet", "xray", BITMAPS, "--arm", "after", "nonsense"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no x-ray probe 'nonsense'" in done.stderr and "shrinker-maps" in done.stderr


@pytest.mark.alone
def test_drgn_opens_on_a_running_lane(runtime: Path) -> None:
    """With a piped script, while the lane's own x-ray goes on."""
    environment = os.environ | {"XDG_RUNTIME_DIR": str(runtime)}

    def duet(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "duet", *words],
            capture_output=True, text=True, timeout=120, input=text, env=environment,
        )  # fmt: skip

    none = duet("drgn")
    assert none.returncode == 2 and "no guest of this user is running" in none.stderr
    lane = subprocess.Popen(
        [sys.executable, "-m", "duet", "xray", GRACE, "--arm", "srcu", "srcu-gp",
         "--clock", "wall", "--set", "seconds=20"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert lane.stderr is not None
        for line in lane.stderr:
            if "running" in line:
                break
        listed = json.loads(duet("drgn", "--json").stdout)["lanes"]
        assert [one["lane"] for one in listed] == [f"{GRACE}/srcu"]
        done = duet("drgn", "srcu", text='print("cpus", int(prog["nr_cpu_ids"]))\n')
        assert done.returncode == 0 and "cpus 2" in done.stdout, done.stderr
        unknown = duet("drgn", "nope")
        assert unknown.returncode == 2 and "no lane 'nope' is running" in unknown.stderr
    finally:
        lane.send_signal(signal.SIGINT)
        lane.communicate(timeout=60)


@pytest.mark.alone
def test_the_event_loop_is_not_held_up() -> None:
    """drgn works in a process of its own: the loop goes on while 300 maps are read."""

    async def worst_gap_ms() -> float:
        worst, loop = 0.0, asyncio.get_running_loop()
        request = read_request(BITMAPS, "after", "", "wall", ["n=300"])
        sources = await kernel_sources(request.folder, ("after",), KernelSettings.default())
        run = Look()
        spec = RunSpec(
            request.folder,
            ("after",),
            "containers",
            request.params,
            "wall",
            probes=frozenset(),
            xray=(Wanted("shrinker-maps", 30),),
            run_id="r",
        )
        async with LaneGuests() as lanes:
            task = asyncio.create_task(RunSession(lanes, spec, sources, run).execute())
            while not task.done():
                began = loop.time()
                await asyncio.sleep(0.002)
                if run.samples:
                    worst = max(worst, (loop.time() - began) * 1e3)
            await task
        assert len(run.samples) > 3
        return worst

    worst = asyncio.run(worst_gap_ms())
    print(f"worst gap of the event loop while sampling: {worst:.1f} ms")
    assert worst < 250


def born_ns(run: Look) -> NDArray[np.float64]:
    """When each memcg was made, by the lesson's points."""
    kind = [point.name for point in load(BITMAPS).lesson.points].index("born")
    batches = run.batches["points"]
    return np.concatenate([b.columns["t_ns"][b.columns["kind"] == kind] for b in batches])


def test_a_recording_gives_the_samples_back(tmp_path: Path) -> None:
    """`duet record` keeps what the lesson's x-ray saw; the replay tells it at its guest time."""
    path = tmp_path / "a.duet"
    # So many containers that the workload lasts for several samples, on a host of any speed.
    words = ["record", BITMAPS, "--arms", "after", "--set", "n=400", "--out", str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "duet", *words], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    request = read_request(BITMAPS, "after", "containers", "count", [])
    run = Look()
    spec = RunSpec(
        request.folder,
        ("after",),
        "containers",
        request.params,
        "count",
        source="recorded",
        run_id="replay",
    )

    async def replay() -> None:
        async with LaneGuests() as lanes:
            session = RunSession(lanes, spec, bundle_sources(open_bundle(path)), run)
            run.result = (await session.execute()).lanes["after"]

    asyncio.run(replay())
    assert run.result.error is None
    assert run.lens.state == "on" and run.lens.samples >= len(run.samples) > 0
    wanted = {config.probe for config in request.folder.lesson.xray}
    assert {sample.probe for sample, _ in run.samples} <= wanted
    walls = [(sample, t) for sample, t in run.samples if sample.probe == "shrinker-maps"]
    assert all(t <= 400e6 for _, t in walls), "within the recorded window"
    born = born_ns(run)
    ended = max(float(t) for batch in run.batches["ops"] for t in batch.columns["t1_ns"])
    before_end = [(sample, t) for sample, t in walls if t + sample.error_ns < ended]
    assert max(sample.facts["memcgs"] for sample, _ in before_end) > 1
    for sample, t in before_end:  # at its guest time each agrees with the events
        least, most = np.searchsorted(born, [t - sample.error_ns, t + sample.error_ns])
        assert least - 1 <= sample.facts["memcgs"] <= most + 1
    assert path.stat().st_size < 2_000_000
