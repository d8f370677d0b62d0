# SPDX-License-Identifier: GPL-2.0-or-later
"""The x-ray's process from its owner's side: it ends, it is given up, and rubbish harms nobody."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import msgpack
import psutil
import pytest

from duet.base.errors import InputError
from duet.base.frames import MESSAGE, pack_frame
from duet.cli.drgn import find_lane
from duet.guests.lanes_file import LaneInfo, publish, running
from duet.lenses import Wanted, Xray
from duet.lenses import xray as message_reader
from duet.lenses import xray as owner
from duet.processes.run_dir import RunDir


class XrayListener:
    def __init__(self) -> None:
        self.faults: list[str] = []

    def on_raw(self, message: dict[str, object]) -> None:
        raise AssertionError(message)

    def on_fault(self, message: str, remedy: str) -> None:
        assert remedy
        self.faults.append(message)


def test_no_monitor_is_a_sentence_and_leaves_no_process(tmp_path: Path) -> None:
    async def go() -> tuple[int, list[str]]:
        listener = XrayListener()
        vmlinux = tmp_path / "vmlinux"
        vmlinux.write_bytes(b"no ELF")
        async with Xray(tmp_path / "none.sock", vmlinux) as xray:
            xray.sample([Wanted("srcu-gp")], listener)
            await asyncio.wait_for(xray.settled.wait(), 240)
            xray.pause()
            xray.sample([Wanted("srcu-gp")], listener)
            return xray.pid, listener.faults

    pid, faults = asyncio.run(go())
    assert not psutil.pid_exists(pid)
    assert len(faults) == 2 and "cannot be reached over none.sock" in faults[0]


def test_a_monitor_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "ATTACH_S", 2.0)
    tmp_path.chmod(0o711)  # the x-ray's process has another user

    async def go() -> tuple[int, str]:
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(tmp_path / "s.sock"))
            (tmp_path / "s.sock").chmod(0o666)
            silent.listen(1)
            (tmp_path / "vmlinux").touch()
            async with Xray(tmp_path / "s.sock", tmp_path / "vmlinux") as xray:
                await asyncio.wait_for(xray.settled.wait(), 240)
                assert xray.fault is not None
                return xray.pid, xray.fault[0]

    pid, sentence = asyncio.run(go())
    assert sentence == "The x-ray did not attach within 2 s."
    assert not psutil.pid_exists(pid)


def test_messages_come_in_any_pieces_and_rubbish_ends_the_reading() -> None:
    received: list[object] = []
    frames = message_reader.MessageReader(received.append)
    stream = pack_frame(MESSAGE, msgpack.packb({"kind": "x"})) * 3
    for at in range(0, len(stream), 5):
        frames.feed(stream[at : at + 5])
    assert received == [{"kind": "x"}] * 3
    frames.feed(b"Traceback (most recent call last)")
    frames.feed(stream)
    assert len(received) == 3


def test_running_lanes_are_found_in_their_run_directories(tmp_path: Path) -> None:
    info = LaneInfo("02-grace-periods", "srcu", "/v", "/s", 7)
    with RunDir(tmp_path) as folder, RunDir(tmp_path) as booting:
        publish(folder, info)
        (booting / "lane.json").write_text("{")
        dead = tmp_path / "g-dead"
        dead.mkdir()
        (dead / "owner").write_text("1 0")
        publish(dead, info)
        assert running(tmp_path) == [info]
        assert folder.stat().st_mode & 0o077 == 0
    assert running(tmp_path) == []


def test_a_lane_is_picked_by_name_or_the_choice_is_reported() -> None:
    one = LaneInfo("02-grace-periods", "srcu", "", "", 7)
    two = LaneInfo("03-inode-recycling", "stock", "", "", 8)
    three = LaneInfo("04-extent-shrinker", "stock", "", "", 9)
    lanes = [one, two, three]
    assert find_lane(None, [one]) == one
    assert find_lane("srcu", lanes) == find_lane("02/srcu", lanes) == find_lane("7", lanes) == one
    assert find_lane("04-extent-shrinker/stock", lanes) == three
    for wanted, there, sentence, remedy in (
        ("srcu", [], "no guest of this user is running", "./duet serve"),
        (None, lanes, "3 lanes are running", "03-inode-recycling/stock (pid 8)"),
        ("stock", lanes, "'stock' names 2 running lanes", "pid 9"),
        ("nope", lanes, "no lane 'nope' is running", "02-grace-periods/srcu"),
    ):
        with pytest.raises(InputError) as error:
            find_lane(wanted, there)
        assert sentence in error.value.sentence and remedy in error.value.remedy
