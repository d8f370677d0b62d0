# SPDX-License-Identifier: GPL-2.0-or-later
"""The stage `start`: what it runs, what its smoke form leaves out, and what a peer's lack means."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tools.bench.speed import start
from tools.bench.speed.pairs import Bench, Figure, Result, Row, Skipped, Turn
from tools.bench.speed.start import PEERS, STAGE, Starter, find_program


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Instead of running commands, list them. Each takes 0.1 s of CPU, and 0.2 s."""
    words: list[tuple[str, ...]] = []

    def run(
        self: Starter,
        command: Sequence[str],
        more: Mapping[str, object] | None = None,
        codes: Sequence[int] = (0,),
    ) -> str:
        del self, more, codes
        words.append(tuple(command))
        return '{"lessons": ["one", "two"]}'

    def turn(self: Starter, *arguments: object, **others: object) -> Turn:
        self.run(*arguments, **others)  # type: ignore[arg-type]
        return Turn(0.2, 0.1)

    monkeypatch.setattr(Starter, "run", run)
    monkeypatch.setattr(Starter, "turn", turn)
    return words


def results(tmp_path: Path) -> list[Result]:
    return list(STAGE.run(Bench(smoke=True, folder=tmp_path)))


def test_the_smoke_form_has_all_targets_and_starts_no_server(
    ran: list[tuple[str, ...]], tmp_path: Path
) -> None:
    found = results(tmp_path)
    targets = {one.case: one.target for one in found if isinstance(one, Figure)}
    assert targets["duet --help"] == 0.3
    assert targets["duet lint of 2 unchanged lessons"] == 0.8
    assert targets[f"duet inspect {start.RECORDING}"] == 1.0
    assert targets[f"duet replay {start.RECORDING}"] == 1.0
    assert all(one.met is not False for one in found if isinstance(one, Figure))
    verbs = {words[3] for words in ran if words[1:3] == ("-m", "duet")}
    assert verbs == {"--help", "inspect", "replay", "lint"}
    rows = [one for one in found if isinstance(one, Row)]
    assert {"python3 -c pass", "its libraries alone"} <= {row.peer for row in rows}
    assert all((row.clock, row.ratio, row.unit) == ("cpu", 1.0, "starts") for row in rows)


def test_a_missing_peer_is_skipped_with_a_remedy(
    ran: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del ran
    monkeypatch.setattr(start, "find_program", lambda name: "/x" if name == "python3" else None)
    skipped = [one for one in results(tmp_path) if isinstance(one, Skipped)]
    assert [one.why for one in skipped] == [
        "vng is not installed. Run: ./setup.sh dev.",
        "trace-cmd is not installed. Run: apt-get install trace-cmd.",
    ]
    assert all(peer.remedy for peer in PEERS[1:])


def test_a_program_beside_this_python_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_program(Path(sys.executable).name) is not None
    assert find_program("no-such-program") is None


def test_a_command_writes_its_compiled_files_into_the_scratch_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    starter = Starter(tmp_path)
    assert starter.run((sys.executable, "-c", "import duet.base.errors; print(7)")) == "7\n"
    assert list(tmp_path.rglob("errors.*.pyc"))
    turn = starter.turn((sys.executable, "-c", "sum(range(2_000_000))"))
    assert turn.cpu_s > 0.01 and turn.output is None


def test_a_command_that_fails_is_no_figure(tmp_path: Path) -> None:
    starter, words = Starter(tmp_path), (sys.executable, "-c", "raise SystemExit(3)")
    with pytest.raises(subprocess.CalledProcessError):
        starter.turn(words)
    assert starter.turn(words, codes=(0, 3)).output is None


def test_the_child_whose_time_is_measured_answers(tmp_path: Path) -> None:
    assert 0 < float(Starter(tmp_path).run((sys.executable, "-c", start.CHILD))) < 60
