#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzz what reads recordings, for as long as you like.

    .venv/bin/python -m tests.stress.fuzz_bundles [--minutes N] [--seed N] [--keep DIR] [--plain]
    .venv/bin/python -m tests.stress.fuzz_bundles --again FILE

The recordings of the lessons are changed (bundle_mutations.py) and then opened, inspected,
replayed and exported; bundle_oracle.py says what must hold. The cases run in a process of their
own, so that one which hangs or crashes is a finding and not the end. By turns the C decoder is
the real one and one with address and undefined-behaviour sanitizers (--plain: never). Every case
that is a finding is kept in DIR, once a cause. One line a round; exit code 1 if anything was found.

hypothesis draws the cases. Coverage-guided fuzzing (atheris) was weighed: it does not see into
the C decoder, and at ten cases a second it would learn little.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
ROUND = 150
CASE_S = 180
"""Host time of one case on a busy machine, before it counts as a hang."""
ROUND_S = 3600
SMALL, LARGE = 150, 400
"""Records of a seed: most are cut, so that many cases fit into an hour."""
SANITIZE = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def recordings() -> tuple[Path, ...]:
    """All recordings of the lessons."""
    files = tuple(sorted(REPO.glob("lessons/*/recorded/*.duet")))
    assert files, "no lesson has a recording"
    return files


def round_of_cases(seed: int, count: int, keep: Path) -> int:
    """Draw and judge cases in this very process; what is found is kept and reported."""
    import hypothesis

    from tests.stress.bundle_mutations import changed
    from tests.stress.bundle_oracle import judge

    reached: Counter[str] = Counter()
    reported: set[str] = set()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(changed(recordings(), LARGE if seed % 4 == 0 else SMALL))
    def one(case: tuple[str, bytes]) -> None:
        what, content = case
        faulthandler.dump_traceback_later(CASE_S, exit=True)
        current = keep / "current.duet"
        current.write_bytes(content)
        with tempfile.TemporaryDirectory() as folder:
            found, came = judge(current, Path(folder))
        reached[came] += 1
        for finding in found:
            if finding.key not in reported:
                reported.add(finding.key)
                name = f"{seed}-{len(reported)}"
                (keep / f"{name}.duet").write_bytes(content)
                (keep / f"{name}.txt").write_text(f"{what}\n{finding.key}\n{finding.detail}\n")
                print(f"FOUND {finding.key} ({what}): {name}.duet", flush=True)
        faulthandler.cancel_dump_traceback_later()

    one()
    print("reached " + ", ".join(f"{name} {n}" for name, n in reached.most_common()), flush=True)
    return len(reported)


def use_sanitizers() -> None:
    """Let decoder and loop be ones with sanitizers; the process has their library already."""
    from duet.decode import decoder as binding
    from duet.session import reduce as reduce_binding

    decoder = binding.ensure(SANITIZE)
    loop = reduce_binding.ensure(SANITIZE)
    binding.ensure = lambda: decoder
    reduce_binding.ensure = lambda: loop


def environment(sanitized: bool) -> dict[str, str]:
    """Of a round."""
    own = {"PYTHONPATH": str(REPO / "backend" / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if sanitized:
        found = [subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True,
                                check=True, timeout=10).stdout.strip()
                 for name in ("libasan.so", "libubsan.so")]  # fmt: skip
        how = "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16"
        own |= {"LD_PRELOAD": " ".join(found), "DUET_FUZZ_SANITIZED": "1", "ASAN_OPTIONS": how}
    return {**os.environ, **own}


def rounds(minutes: float, seed: int, keep: Path, plain: bool) -> int:
    """Round after round until the time is over; returns how many found something."""
    keep.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + minutes * 60
    bad = cases = 0
    while time.monotonic() < until:
        sanitized = not plain and seed % 2 == 1
        began = time.monotonic()
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "tests.stress.fuzz_bundles",
            "--round",
            str(seed),
        ]
        done = subprocess.run(
            [*command, "--keep", str(keep)], env=environment(sanitized), timeout=ROUND_S,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        if crashed := done.returncode not in (0, 1):
            (keep / "current.duet").rename(keep / f"crash-{seed}.duet")
            (keep / f"crash-{seed}.txt").write_text(done.stdout)
        bad += done.returncode != 0
        cases += ROUND
        lines = done.stdout.strip().splitlines()[-30 if crashed else -8 :]
        said = " | ".join(line[:200] for line in lines)
        how = "sanitized" if sanitized else "plain"
        end = f"CRASH {done.returncode}, crash-{seed}.duet: " if crashed else ""
        took = f"{time.monotonic() - began:.0f} s"
        reported = f"seed {seed}, {how}, {cases} cases, {took}: {end}{said}"
        print(time.strftime("%H:%M:%S"), reported, flush=True)
        seed += 1
    print(f"{cases} cases, {bad} rounds found something")
    return bad


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "duet-fuzz")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--round", type=int)
    parser.add_argument("--again", type=Path)
    given = parser.parse_args()
    if os.environ.get("DUET_FUZZ_SANITIZED"):
        use_sanitizers()
    if given.again is not None:
        from tests.stress.bundle_oracle import judge

        with tempfile.TemporaryDirectory() as folder:
            found, came = judge(given.again, Path(folder))
        print("\n".join([*(f"{x.key}\n{x.detail}" for x in found), f"came to: {came}"]))
        return 1 if found else 0
    if given.round is not None:
        return 1 if round_of_cases(given.round, ROUND, given.keep) else 0
    return 1 if rounds(given.minutes, given.seed, given.keep, given.plain) else 0


if __name__ == "__main__":
    raise SystemExit(main())
