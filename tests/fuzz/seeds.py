# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for the fuzzers from good and hostile recordings, and the generated programs.h."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

from duet.decode import Decoder
from duet.lessons.load import load
from duet.lessons.plan import workload_of
from duet.lessons.schema import Lesson
from duet.session.formats import format_words
from duet.session.program import compile_program
from duet.session.reduce import program_words
from duet.wire.frames import FrameType
from tests.corpus.hostile_case import Good, frame_of, good
from tests.corpus.hostile_formats import EVENT, PRINT, printing

PAGE = 4096
PROGRAMS = (("02-grace-periods", "rwsem"), ("02-grace-periods", "srcu"),
            ("03-inode-recycling", "stock"))  # fmt: skip
AS_PAGES = 128
"""Flag of the first byte of an input of fuzz_reduce.c: pages follow."""


def guest_files(of: Good) -> dict[str, bytes]:
    """Return name -> content of the recording's FILE frames."""
    found = {}
    for record in of.records:
        frame = frame_of(record)
        if frame is not None and frame.type == FrameType.FILE:
            name, _, text = frame.payload.partition(b"\0")
            found[name.decode()] = text
    return found


def pages_input(formats: list[bytes], pages: bytes) -> bytes:
    """Pack an input for fuzz_pages.c."""
    parts = [bytes([len(formats)])]
    parts += [len(text).to_bytes(2, "little") + text for text in formats]
    return b"".join([*parts, pages])


def pages_seeds() -> list[bytes]:
    """Return real formats and pages, and print formats that overflowed libtraceevent's stack."""
    files = guest_files(good())
    formats = [text for name, text in files.items() if name.endswith("/format")][:16]
    pages = [r.payload[:PAGE] for r in good().records if r.stream >= 0][:6]
    found = [pages_input(formats, b"".join(pages))]
    found += [pages_input([text], b"") for text in formats]
    found += [pages_input(formats[:3], page) for page in pages]
    found += [pages_input([printing(text[:60_000])(files[EVENT])], b"") for text in PRINT.values()]
    return found


def reduce_seeds() -> list[bytes]:
    """Return random events with mostly small numbers, and real pages."""
    noise = random.Random(3)
    found = []
    for number in range(12):
        events = [
            bytes([noise.randrange(1, 12), noise.randrange(2), noise.randrange(20),
                   noise.randrange(8), noise.randrange(8), noise.randrange(4)])
            + noise.randrange(8).to_bytes(2, "little")
            for _ in range(60)
        ]  # fmt: skip
        found.append(bytes([number % len(PROGRAMS)]) + b"".join(events))
    pages = [r.payload[:PAGE] for r in good().records if r.stream >= 0][:6]
    return found + [bytes([AS_PAGES]) + one + other for one, other in itertools.pairwise(pages)]


def agent_seeds() -> list[bytes]:
    """Return the host's golden frames."""
    frames = Path(__file__).parents[1] / "fixtures/frames"
    return [bytes([255]) + file.read_bytes() for file in sorted(frames.glob("*.bin"))]


def scope_seeds() -> list[bytes]:
    """Return functions files in the form that the host writes."""
    dput = "function dput ffffffff81000000 ffffffff81000040\n"
    cold = "function dput ffffffff82000000 ffffffff82000010\n"
    other = "function lockref_get 1000 1040\n"
    return [
        f"microscope 1\n{dput}{other}{cold}operation dput\nswitch ffffffff81900000\n".encode(),
        f"microscope 1\n{other}".encode(),
    ]


def wire_seeds() -> list[bytes]:
    """Return the recording's control stream, in records and as a whole."""
    return [r.payload for r in good().records if frame_of(r)] + [
        b"".join(r.payload for r in good().records if frame_of(r))[:30_000]
    ]


def bundle_seeds() -> list[bytes]:
    """As fuzz_bundle.py reads it: u16 length of the manifest, the manifest, a stream."""
    import json

    text = json.dumps(good().tree, separators=(",", ":")).encode()
    stream = good().stream()[:3000]
    whole = [b"\0" + len(text).to_bytes(2, "little") + text + stream]
    return [*whole, b"\1" + good().file(b"")]


SEEDS = {
    "pages": pages_seeds,
    "reduce": reduce_seeds,
    "agent": agent_seeds,
    "scope": scope_seeds,
    "wire": wire_seeds,
    "bundle": bundle_seeds,
}


def write_seeds(target: str, folder: Path) -> None:
    """Seeds of one target, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[target]()):
        (folder / f"seed-{number:03}").write_bytes(seed)


def programs_header() -> str:
    """programs.h: what lessons mean by events, as words."""
    lines = ["#include <stdint.h>", "struct program { long n; const int64_t *words; };"]
    rows = []
    for number, (slug, arm) in enumerate(PROGRAMS):
        words = ", ".join(f"INT64_C({word})" for word in _words(load(slug).lesson, arm))
        lines.append(f"static const int64_t words_{number}[] = {{ {words} }};")
        rows.append(f"{{ sizeof(words_{number}) / 8, words_{number} }}")
    lines += [f"static const struct program programs[] = {{ {', '.join(rows)} }};",
              f"#define NPROGRAMS {len(PROGRAMS)}"]  # fmt: skip
    return "\n".join([*lines, ""])


def _words(lesson: Lesson, arm: str) -> list[int]:
    ids: dict[str, int] = {}
    symbols = _Symbols()
    workload = workload_of(lesson, next(iter(lesson.workloads)))
    program = compile_program(
        lesson, arm, workload, symbols, lambda text: ids.setdefault(text, len(ids))
    )
    events = Decoder(guest_files(good())).by_name
    return program_words(program) + format_words(program, events, ())


class _Symbols(dict[str, int]):
    """An address for whatever symbol a lesson asks for."""

    def __missing__(self, name: str) -> int:
        return self.setdefault(name, len(self) + 1)
