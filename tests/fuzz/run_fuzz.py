#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Build and run the coverage-guided fuzzers, one after another.

    .venv/bin/python -m tests.fuzz.run_fuzz [--minutes N] [--seconds N] [--only TARGET] [--keep DIR]

libFuzzer with address and undefined-behaviour sanitizers tests the C parts; atheris tests the
Python parsers of wire and bundles. Seeds are good and hostile recordings, and inputs that once
crashed a target (tests/fuzz/found/TARGET). New inputs are stored in DIR/TARGET, where the next run
continues; crashing inputs are DIR/TARGET-crash-*. Exit code 1 after a crash.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
REPO = HERE.parents[1]

from tests.fuzz.seeds import programs_header, write_seeds  # noqa: E402

DUET = REPO / "backend/src/duet"
IMAGES = REPO / "vm-images"
CLANGS = range(19, 13, -1)
"""Versions of clang, newest first; ./setup.sh dev installs one of them with its sanitizers."""
NO_CLANG = "no clang with sanitizers (libclang-rt-*-dev) is installed"
FLAGS = ("-std=gnu11", "-g", "-O1", "-fsanitize=fuzzer,address,undefined",
         "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")  # fmt: skip
BUILD_S = 120
SLACK_S = 120
"""Extra time for the last input of a target, on a busy host."""
MEMORY_MB = 2048
INPUT_S = 20


@dataclass(frozen=True, slots=True)
class Target:
    """One fuzzer.

    Args:
        most_bytes: longest input.
        sources: C files in addition to fuzz_NAME.c; () for a Python target.
        include: folders of headers.
        package: pkg-config package to link with.
        leaks: whether a leak is a finding. libtraceevent leaks some bytes of a format that it
            refuses, but its process ends with the lane.
    """

    name: str
    most_bytes: int
    sources: tuple[Path, ...] = ()
    include: tuple[Path, ...] = ()
    package: str = ""
    leaks: bool = True

    @property
    def python(self) -> bool:
        """Whether this is a target of atheris."""
        return (HERE / f"fuzz_{self.name}.py").exists()


TARGETS = (
    Target("pages", 65_536, (), (DUET / "decode",), "libtraceevent",
           leaks=False),
    Target("reduce", 16_385, tuple(sorted((DUET / "session/loop").glob("*.c"))),
           (DUET / "session/loop", DUET / "decode")),
    Target("agent", 8_192, tuple(IMAGES / "agent" / f for f in ("frame.c", "plan.c", "report.c")),
           (IMAGES / "agent",)),
    Target("scope", 4_096, (IMAGES / "microscope/functions.c",), (IMAGES / "microscope",)),
    Target("wire", 16_384),
    Target("bundle", 16_384),
)  # fmt: skip


def clang() -> str | None:
    """Return the newest clang that is installed with its sanitizers; None if there is none."""
    for version in CLANGS:
        fuzzers = Path(f"/usr/lib/llvm-{version}/lib/clang").glob("*/lib/linux/*fuzzer-x86_64.a")
        if any(fuzzers) and (found := shutil.which(f"clang-{version}")):
            return found
    return None


def build(target: Target, folder: Path) -> list[str]:
    """Build a target; return the command that starts it."""
    if target.python:
        return [sys.executable, str(HERE / f"fuzz_{target.name}.py")]
    (folder / "programs.h").write_text(programs_header())
    program = folder / f"fuzz_{target.name}"
    includes = [f"-I{path}" for path in (folder, *target.include)]
    compiler = clang()
    assert compiler, NO_CLANG
    command = [
        compiler,
        *FLAGS,
        "-fwrapv",
        *includes,
        str(HERE / f"fuzz_{target.name}.c"),
        *map(str, target.sources),
        "-o",
        str(program),
    ]
    if target.package:
        found = subprocess.run(["pkg-config", "--cflags", "--libs", target.package],
                               capture_output=True, text=True, check=True, timeout=10)  # fmt: skip
        command += found.stdout.split()
    subprocess.run(command, check=True, timeout=BUILD_S)
    return [str(program)]


def run(target: Target, seconds: int, seed: int, keep: Path, build_in: Path) -> tuple[bool, str]:
    """Run one target; return whether it found nothing, and a summary."""
    held, seeds = keep / target.name, build_in / f"seeds-{target.name}"
    held.mkdir(parents=True, exist_ok=True)
    write_seeds(target.name, seeds)
    folders = [held, seeds, *[f for f in [HERE / "found" / target.name] if f.is_dir()]]
    command = [
        *build(target, build_in),
        f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={target.most_bytes}",
        f"-detect_leaks={target.leaks:d}", f"-rss_limit_mb={MEMORY_MB}", f"-timeout={INPUT_S}",
        "-print_final_stats=1",
        f"-artifact_prefix={keep}/{target.name}-", *map(str, folders),
    ]  # fmt: skip
    how = f"detect_leaks={target.leaks:d}:allocator_may_return_null=1"
    own = {"PYTHONPATH": str(DUET.parent), "DUET_ROOT": str(REPO), "ASAN_OPTIONS": how}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env={**os.environ, **own},
        timeout=seconds + SLACK_S,
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    figures = {line.split()[0]: line.split()[-1] for line in lines if line.startswith("stat::")}
    runs = next((value for key, value in figures.items() if "number_of_executed" in key), "?")
    cover = next((line for line in reversed(lines) if " cov: " in line), "")
    words = cover.split()
    seen = words[words.index("cov:") + 1] if "cov:" in words else "?"
    if done.returncode == 0:
        return True, f"{runs} inputs, {seen} edges"
    (keep / f"{target.name}.log").write_text("\n".join(lines))
    what = [line for line in lines if "ERROR" in line or "Error" in line or "SUMMARY" in line]
    return False, " | ".join([*what[:3], *lines[-3:]])


def fuzz(seconds: int, seed: int, keep: Path, only: str = "") -> list[str]:
    """Run all targets, or one; return a line for each that found something."""
    keep.mkdir(parents=True, exist_ok=True)
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="duet-fuzz-") as folder:
        for target in TARGETS:
            if only not in ("", target.name):
                continue
            began = time.monotonic()
            held, said = run(target, seconds, seed, keep, Path(folder))
            line = f"{target.name}: {said}, {time.monotonic() - began:.0f} s"
            print(time.strftime("%H:%M:%S"), "ok" if held else "FOUND", line, flush=True)
            bad += [] if held else [line]
    return bad


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10, help="for all targets together")
    parser.add_argument("--seconds", type=int, help="for each target")
    parser.add_argument("--seed", type=int, default=int(time.time()) & 0xFFFFFFF)
    parser.add_argument("--only", default="", choices=["", *(target.name for target in TARGETS)])
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "duet-fuzz-c")
    given = parser.parse_args()
    if clang() is None:
        print(f"error: {NO_CLANG}.\nremedy: Run ./setup.sh dev.", file=sys.stderr)
        return 3
    share = len(TARGETS) if not given.only else 1
    seconds = given.seconds or max(1, int(given.minutes * 60 / share))
    return 1 if fuzz(seconds, given.seed, given.keep, given.only) else 0


if __name__ == "__main__":
    raise SystemExit(main())
