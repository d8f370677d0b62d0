# SPDX-License-Identifier: GPL-2.0-or-later
"""The ring-buffer pages of a recorded lane: whole, cut, repeated, or dealt to more CPUs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duet.bundle import ArmEntry, Manifest, open_bundle
from duet.bundle.reader import LaneContents, read_lane
from duet.decode import Decoder
from duet.wire import Beat, CpuBeat
from tools.bench.speed.capture import Capture

Pages = NDArray[np.uint8]
"""Pages of one CPU, one a row."""
GAP_NS = 1_000_000
"""Time between two repetitions of a lane."""


# The format of a page: include/linux/ring_buffer.h and kernel/trace/ring_buffer.c of Linux 6.1.
WORDS = struct.Struct("<II")
HEADER_BYTES, MISSED = 16, 3 << 30
LENGTH_BITS, TIME_BITS = 5, 27
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31


class Group(NamedTuple):
    """Pages that arrive together, and the agent's BEAT frame that follows them."""

    pages: dict[int, bytes]
    beat: Beat


@dataclass(frozen=True, slots=True)
class LanePages:
    """Pages of a lane, by CPU, in order of time.

    Args:
        lane: transcript of the lane; its format files apply to the pages.
        end_ns: guest time after the last event.
    """

    manifest: Manifest
    lane: LaneContents
    pages: dict[int, Pages]
    events: int
    end_ns: int

    @property
    def entry(self) -> ArmEntry:
        """The lane's arm in the manifest."""
        return self.manifest.arm(self.lane.arm)

    @property
    def count(self) -> int:
        """Number of pages."""
        return sum(len(pages) for pages in self.pages.values())

    @property
    def begin_ns(self) -> int:
        """Guest time of the first page."""
        return min(int(times_of(pages)[0]) for pages in self.pages.values() if len(pages))

    def blobs(self) -> dict[int, bytes]:
        """Return the pages of each CPU as bytes."""
        return {cpu: pages.tobytes() for cpu, pages in self.pages.items()}

    def cut(self, share: float) -> LanePages:
        """Return the first part of the lane, with this share of its pages."""
        times = np.sort(np.concatenate([times_of(pages) for pages in self.pages.values()]))
        until = int(times[min(len(times) - 1, round(len(times) * share))])
        kept = {cpu: pages[times_of(pages) < until] for cpu, pages in self.pages.items()}
        return _counted(
            self.manifest, self.lane, {cpu: part for cpu, part in kept.items() if len(part)}
        )

    def repeated(self, times: int) -> LanePages:
        """Return the lane several times in a row, with the times of each repetition shifted."""
        step = self.end_ns - self.begin_ns + GAP_NS
        moved = {
            cpu: np.concatenate([_moved(pages, stamps, n * step) for n in range(times)])
            for cpu, pages in self.pages.items()
            for stamps in [list(_stamps(pages))]
        }
        end = self.end_ns + (times - 1) * step
        return replace(self, pages=moved, events=self.events * times, end_ns=end)

    def dealt(self, times: int) -> LanePages:
        """Return the lane with `times` as many CPUs, which take each CPU's pages in turns."""
        dealt = {
            cpu * times + number: pages[number::times]
            for cpu, pages in self.pages.items()
            for number in range(times)
        }
        return replace(self, pages={cpu: part for cpu, part in dealt.items() if len(part)})

    def groups(self, until_ns: list[int]) -> list[Group]:
        """Divide the pages by time into groups, as if the agent had sent each group together.

        Args:
            until_ns: increasing guest times at which the groups end. The last group has all
                remaining pages.
        """
        cpus = max(self.pages) + 1
        done = dict.fromkeys(self.pages, 0)
        found: list[Group] = []
        starts = {cpu: times_of(pages) for cpu, pages in self.pages.items()}
        for until in [*until_ns[:-1], self.end_ns]:
            parts: dict[int, bytes] = {}
            for cpu, pages in self.pages.items():
                upto = int(np.searchsorted(starts[cpu], until))
                if upto > done[cpu]:
                    parts[cpu] = pages[done[cpu] : upto].tobytes()
                    done[cpu] = upto
            rows = [
                CpuBeat(
                    done.get(cpu, 0) * self.lane.page_bytes,
                    _complete_ns(starts.get(cpu), done.get(cpu, 0), self.end_ns),
                )
                for cpu in range(cpus)
            ]
            found.append(Group(parts, Beat(until, tuple(rows))))
        return found

    def by_size(self, pages: int) -> list[Group]:
        """Divide the lane into groups of about `pages` pages."""
        times = np.sort(np.concatenate([times_of(part) for part in self.pages.values()]))
        return self.groups([int(time) for time in times[pages::pages]] + [self.end_ns])

    def by_time(self, tick_ns: int) -> list[Group]:
        """Divide the lane into groups of equal length in guest time."""
        return self.groups([*range(self.begin_ns + tick_ns, self.end_ns, tick_ns), self.end_ns])


def lane_pages(made: Capture) -> LanePages:
    """Read the lane of a capture."""
    bundle = open_bundle(made.path)
    lane = read_lane(bundle, made.arm)
    size = lane.page_bytes
    pages = {
        cpu: np.frombuffer(blob, np.uint8).reshape(-1, size) for cpu, blob in lane.pages.items()
    }
    return _counted(bundle.manifest, lane, pages)


def times_of(pages: Pages) -> NDArray[np.uint64]:
    """Return the guest time at which each page begins."""
    return np.ascontiguousarray(pages[:, :8]).view(np.uint64).ravel()


def chunks(blobs: dict[int, bytes], size: int) -> Iterator[tuple[int, bytes]]:
    """Yield each CPU's pages in pieces of at most `size` bytes."""
    for cpu, blob in blobs.items():
        for at in range(0, len(blob), size):
            yield cpu, blob[at : at + size]


def _counted(manifest: Manifest, lane: LaneContents, pages: dict[int, Pages]) -> LanePages:
    decoder = Decoder(lane.files, lane.page_bytes)
    events, last = 0, 0
    for cpu, part in chunks({cpu: part.tobytes() for cpu, part in pages.items()}, 16 << 20):
        columns = decoder.decode(cpu, part)
        events += columns.events
        last = max(last, *(int(table.ts_ns[-1]) for table in columns.tables.values()))
    return LanePages(manifest, lane, pages, events, last + 1)


def _moved(pages: Pages, stamps: list[int], by_ns: int) -> Pages:
    """Return the pages with all times shifted.

    Args:
        stamps: offsets of records with an absolute time.
    """
    moved = pages.copy()
    moved[:, :8] = (times_of(pages) + np.uint64(by_ns)).view(np.uint8).reshape(-1, 8)
    flat = moved.reshape(-1).data
    for at in stamps:
        head, high = WORDS.unpack_from(flat, at)
        time = (head >> LENGTH_BITS | high << TIME_BITS) + by_ns
        low = time & ((1 << TIME_BITS) - 1)
        WORDS.pack_into(flat, at, low << LENGTH_BITS | TIME_STAMP, time >> TIME_BITS)
    return moved


def _stamps(pages: Pages) -> Iterator[int]:
    """Yield the offsets of records with an absolute time. Pages must be valid."""
    size = pages.shape[1]
    flat = pages.reshape(-1).data
    for page in range(0, len(flat), size):
        at = page + HEADER_BYTES
        end = at + (WORDS.unpack_from(flat, page + 8)[0] & ~MISSED)
        while at + 4 <= end:
            head, second = WORDS.unpack_from(flat, min(at, len(flat) - 8))
            kind = head & ((1 << LENGTH_BITS) - 1)
            if kind == PADDING and not head >> LENGTH_BITS:
                break
            if kind == TIME_STAMP:
                yield at
            if kind in (0, PADDING):
                at += 4 + (second + 3) // 4 * 4
            else:
                at += 8 if kind > PADDING else 4 + 4 * kind


def _complete_ns(starts: NDArray[np.uint64] | None, done: int, end_ns: int) -> int:
    """Return the guest time up to which a CPU's events are in its first `done` pages."""
    if starts is None or done >= len(starts):
        return end_ns
    return int(starts[done]) - 1
