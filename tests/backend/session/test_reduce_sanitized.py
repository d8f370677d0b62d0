# SPDX-License-Identifier: GPL-2.0-or-later
"""The loop in C reads and writes nothing that is not its own, whatever events come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from duet.base.settings import repo_root

SANITIZE = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
TIMEOUT_S = 300
SEEDS = 25


def main() -> None:
    """In a process that has the sanitizers' libraries: each seed on each arm, in steps of seven."""
    from duet.decode import Decoder
    from duet.lessons.load import load
    from duet.session import reduce as reduce_binding
    from tests.support.chaos import Chaos
    from tests.support.stage import FILES, reducer

    path = reduce_binding.ensure(SANITIZE)
    reduce_binding.ensure = lambda: path  # type: ignore[assignment]
    lesson, spans = load("02-grace-periods").lesson, 0
    for seed in range(SEEDS):
        for arm in ("rwsem", "srcu", "srcu-delayed"):
            decoder = Decoder(FILES)
            lane = reducer(lesson, arm, decoder, seed % 4, step_events=7)
            for cpu, pages in Chaos(seed, 400).pages():
                lane.feed(cpu, pages)
            while (step := lane.finish()).more:
                spans += sum(batch.n for batch in step.batches)
    print(f"{spans} rows")


def libraries() -> str:
    """Paths of the sanitizers' libraries, as LD_PRELOAD wants them."""
    found = []
    for name in ("libasan.so", "libubsan.so"):
        asked = ["cc", f"-print-file-name={name}"]
        found.append(subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120))
    return " ".join(one.stdout.strip() for one in found)


def test_the_loop_holds_under_sanitizers() -> None:
    own = {"LD_PRELOAD": libraries(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        cwd=repo_root(), env={**os.environ, **own},
        capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 1000


@pytest.mark.parametrize("flaw", ["rows - 1", "rows + 900"])
def test_the_sanitizers_see_a_write_beyond_a_table(flaw: str, tmp_path: Path) -> None:
    """The test above could not fail if the loop ran without them."""
    from duet.session.reduce import FLAGS, FOLDER

    text = (FOLDER / "reduce.h").read_text()
    assert "(table)->rows - 1]" in text
    (tmp_path / "reduce.h").write_text(text.replace("(table)->rows - 1]", f"(table)->{flaw} + 16]"))
    (tmp_path / "main.c").write_text(
        """#include "reduce.h"
        int main(void) {
            const int64_t words[] = { 0, 1, 2, -1, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            struct reduce *r = reduce_new(words, 15);
            r->began = 1;
            return emit(r, 1, 2, 0, 0, 0, 0, 1);
        }"""
    )
    sources = [str(tmp_path / "main.c"), *map(str, FOLDER.glob("*.c"))]
    include = ["-I", str(FOLDER), "-include", str(tmp_path / "reduce.h")]
    binary = str(tmp_path / "flawed")
    command = ["cc", "-std=gnu11", *FLAGS, *SANITIZE, *include, *sources, "-o", binary]
    subprocess.run(command, check=True, timeout=TIMEOUT_S)
    done = subprocess.run([binary], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode != 0 and "AddressSanitizer" in done.stderr


if __name__ == "__main__":
    main()
