# SPDX-License-Identifier: GPL-2.0-or-later
"""Bisections of small repositories: what measures is a function of a file in the commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError, KernelError
from duet.kernels.compiler import CompileFails
from duet.trials.bisect import (
    BisectFails,
    Commit,
    Found,
    History,
    Measured,
    Question,
    Search,
    StoredMeasurements,
    answer_of,
    files_digest,
    find_commit,
    markdown,
    reason_to_skip,
)
from tests.backend.trials.commits import commits, git, value_of


class Bench:
    """A repository, and what was asked of it."""

    def __init__(self, folder: Path, values: list[float | str]) -> None:
        self.repository = folder / "linux"
        self.ids = commits(self.repository, values)
        self.work_tree = folder / "state" / "tree"
        self.asked: list[str] = []
        self.stored: dict[str, Measured] = {}
        self.said: list[str] = []

    def measure(self, commit: Commit) -> Measured:
        """How much worse its value is than that of the first commit."""
        self.asked.append(commit.id)
        text = value_of(self.repository, commit.id)
        if text == "broken":
            raise CompileFails("mm/a.c does not compile.", remedy="Correct it.")
        if text == "hangs":
            raise KernelError("the guest did not boot.", remedy="Look at its console.")
        if text == "disk":
            raise InfraError("the disk is full.", remedy="Make room.")
        first = float(value_of(self.repository, self.ids[0]))
        worse = 100 * (float(text) / first - 1)
        return Measured(worse, f"{worse:.0f} % more", first, float(text), "ms")

    def run(
        self, worse_than: float | None = None, known: dict[str, Measured] | None = None
    ) -> Found:
        with History(self.repository, self.work_tree) as history:
            store = self.stored.__setitem__
            search = Search(history, self.measure, known or {}, store, self.said.append)
            first, last = (find_commit(self.repository, self.ids[n]) for n in (0, -1))
            return search.run(first, last, worse_than)


def test_the_culprit_is_found_and_the_checkout_is_as_it_was(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 10, 10.1, 10, 10, 20, 20, 20.1, 20, 20])
    (bench.repository / "value").write_text("my own change\n")
    found = bench.run()
    assert found.culprit is not None and found.culprit.id == bench.ids[5]
    assert found.culprit.parents == (bench.ids[4],)
    assert found.limit == pytest.approx(50), "half of what separates good from bad"
    assert len(bench.asked) == len(set(bench.asked)) <= 5
    assert bench.asked[0] == bench.ids[-1], "first of all: is the bad commit bad?"
    assert [step.number for step in found.steps] == list(range(len(found.steps)))
    assert bench.said[2].startswith("step 1 of about 3: ")
    assert (bench.repository / "value").read_text() == "my own change\n"
    assert git(bench.repository, "status", "--porcelain") == "M value"
    assert git(bench.repository, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert not bench.work_tree.exists()
    assert git(bench.repository, "worktree", "list").count("\n") == 0
    assert git(bench.repository, "for-each-ref", "refs/bisect") == ""


def test_a_limit_may_be_given(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 11, 11, 11, 20, 20, 20])
    small = bench.run(worse_than=5)
    assert small.culprit is not None and small.culprit.id == bench.ids[1]
    large = bench.run(worse_than=20)
    assert large.culprit is not None and large.culprit.id == bench.ids[4]


@pytest.mark.parametrize("trouble", ["broken", "hangs"])
def test_a_commit_that_does_not_build_or_boot_is_skipped_with_its_reason(
    tmp_path: Path, trouble: str
) -> None:
    bench = Bench(tmp_path, [10, 10, 10, trouble, 10, 20, 20])
    found = bench.run()
    assert found.culprit is not None and found.culprit.id == bench.ids[5]
    (skipped,) = (step for step in found.steps if step.answer == "skip")
    assert skipped.commit.id == bench.ids[3]
    reasons = {"broken": "does not build: mm/a.c", "hangs": "does not run: the guest"}
    assert reasons[trouble] in skipped.measured.why
    text = markdown(_question(bench), found)
    assert f"- `{bench.ids[3][:12]}`: it" in text


def test_where_only_skipped_commits_are_left_all_candidates_are_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 10, "broken", "broken", 20])
    found = bench.run()
    assert found.culprit is None
    assert {one.id for one in found.candidates} == set(bench.ids[2:])
    assert "one of 3 commits" in markdown(_question(bench), found)


def test_trouble_of_the_host_ends_the_search_and_the_same_call_goes_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 10, 10, 10, "disk", 20, 20, 20, 20])
    with pytest.raises(InfraError, match="disk is full"):
        bench.run()
    assert not bench.work_tree.exists()
    before = dict(bench.stored)
    assert list(before) == [bench.ids[-1]]
    bench.asked.clear()
    found = bench.run(known={**before, bench.ids[4]: Measured(0.0, "mended")})
    assert found.culprit is not None and found.culprit.id == bench.ids[5]
    assert not set(bench.asked) & {bench.ids[-1], bench.ids[4]}
    assert [step.again for step in found.steps[:2]] == [True, True]


def test_a_work_tree_that_a_killed_search_left_is_replaced(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 20, 20])
    killed = History(bench.repository, bench.work_tree)
    killed.__enter__()
    killed.start(bench.ids[0], bench.ids[-1])
    found = bench.run()
    assert found.culprit is not None and found.culprit.id == bench.ids[1]
    assert not bench.work_tree.exists()


def test_a_bad_commit_that_is_not_worse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BisectFails, match="is not worse than the good one by more than 0 %"):
        Bench(tmp_path / "a", [10, 10, 9]).run()
    with pytest.raises(BisectFails, match="by more than 30 %"):
        Bench(tmp_path / "b", [10, 10, 12]).run(worse_than=30)
    with pytest.raises(BisectFails, match="the bad commit cannot be measured: it does not build"):
        Bench(tmp_path / "c", [10, 10, "broken"]).run()


def test_commits_that_git_cannot_search_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 20])
    with pytest.raises(BisectFails, match="wanted the commit 'v9'"):
        find_commit(bench.repository, "v9")
    history = History(bench.repository, bench.work_tree)
    with history, pytest.raises(BisectFails, match="cannot search this range"):
        history.start(bench.ids[1], bench.ids[0])


def test_a_commit_with_the_source_of_the_good_one_is_not_measured(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [10, 12, 20, 20])
    git(bench.repository, "reset", "-q", "--hard", bench.ids[1])
    git(bench.repository, "revert", "--no-edit", bench.ids[1])
    for value in (10, 20):
        (bench.repository / "value").write_text(f"{value}\n")
        git(bench.repository, "commit", "-q", "--allow-empty", "-am", "more")
    bench.ids[1:] = git(bench.repository, "rev-list", "--reverse", f"{bench.ids[0]}..").split()
    found = bench.run()
    assert found.culprit is not None and found.culprit.id == bench.ids[-1]
    assert bench.ids[2] not in bench.asked and bench.ids[3] not in bench.asked


def test_an_answer_is_what_the_number_says() -> None:
    assert answer_of(Measured(5.1, ""), 5) == "bad"
    assert answer_of(Measured(5.0, ""), 5) == "good" == answer_of(Measured(-40, ""), 5)
    assert answer_of(Measured(None, "refused"), 5) == "skip"
    assert reason_to_skip(InputError("no such option.", remedy="x")) is None


def test_what_was_measured_is_stored_for_the_same_question_only(tmp_path: Path) -> None:
    memory = StoredMeasurements(tmp_path, {"run": "a", "times": 1})
    memory.store("c1", Measured(12.5, "why", 1.0, 2.0, "ms"))
    memory.store("c2", Measured(None, "it does not build"))
    again = StoredMeasurements(tmp_path, {"run": "a", "times": 1})
    assert again.known == memory.known and again.known["c1"].worse == 12.5
    assert StoredMeasurements(tmp_path, {"run": "b", "times": 1}).known == {}
    (tmp_path / "measured.json").write_text("[1]")
    assert StoredMeasurements(tmp_path, {"run": "a", "times": 1}).known == {}


def test_a_changed_script_is_another_question(tmp_path: Path) -> None:
    script = tmp_path / "work" / "run.sh"
    script.parent.mkdir()
    script.write_text("true\n")
    script.chmod(0o755)
    before = files_digest(f"{script} --fast | head")
    assert files_digest(f"{script} --fast | head") == before
    script.write_text("false\n")
    assert files_digest(f"{script} --fast | head") != before
    assert files_digest("echo 'open")


def test_the_report_shows_every_step_and_how_to_see_the_lanes(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [1000, 1000, "broken", 1500, 1500])
    found = bench.run(worse_than=10)
    text = markdown(_question(bench, trial="./duet try --tree a@b"), found)
    assert "| bad | `" in text and "| 1,000 ms | 1,500 ms | +50.0 % | bad |" in text
    assert "commit 4 of \\`all\\` \\| some" in text, "words of a commit stay words, in one cell"
    assert "worse than good by more than 10 %" in text and "Skipped:" in text


def _question(bench: Bench, trial: str = "") -> Question:
    good, bad = (find_commit(bench.repository, bench.ids[n]) for n in (0, -1))
    return Question("x", good, bad, "sh -c true", "time", "count", trial)
