# SPDX-License-Identifier: GPL-2.0-or-later
"""KUnit in a check: which suites fit a patch, what their results on a console say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.settings import EXTRA_LESSONS, cache_dir
from duet.cli import trial_run
from duet.cli.check import CheckRequest, finish, read_check, settings_of, touched_files
from duet.cli.output import BAD
from duet.kernels.recipe import read_options
from duet.trials.ask import Asked
from duet.trials.check import console as ktap
from duet.trials.check.chosen import ALL, FOLDERS, about, fitting, fragment
from duet.trials.check.console import first_complaint, judge
from duet.trials.spec import Trial
from tests.backend.trials.made import PATCH
from tests.backend.trials.test_check import QUIET, images

PASSES = """\
[    2.100000] KTAP version 1
[    2.110000] 1..2
[    2.120000]     KTAP version 1
[    2.130000]     # Subtest: ext4_inode_test
[    2.140000]     1..1
[    2.150000]         KTAP version 1
[    2.160000]         # Subtest: inode_test_xtimestamp_decoding
[    2.170000]         ok 1 1901-12-13 Lower bound of 32bit < 0 timestamp, no extra bits
[    2.180000] clocksource: Switched to clocksource hpet
[    2.190000]         ok 2 1969-12-31 Upper bound of 32bit < 0 timestamp, no extra bits
[    2.200000]     # inode_test_xtimestamp_decoding: pass:2 fail:0 skip:0 total:2
[    2.210000]     ok 1 inode_test_xtimestamp_decoding
[    2.220000] ok 1 ext4_inode_test
[    2.230000]     KTAP version 1
[    2.240000]     # Subtest: list-kunit-test
[    2.250000]     1..3
[    2.260000]     ok 1 list_test_list_init
[    2.270000]     ok 2 list_test_list_add # SKIP not here
[    2.280000]     ok 3 list_test_list_del
[    2.290000] # list-kunit-test: pass:2 fail:0 skip:1 total:3
[    2.300000] ok 2 list-kunit-test
"""
FAILS = (
    PASSES.replace("        ok 2 1969", "        not ok 2 1969")
    .replace("    ok 1 inode_test", "    not ok 1 inode_test")
    .replace("ok 1 ext4_inode_test", "not ok 1 ext4_inode_test")
    .replace(
        "[    2.180000] clock",
        "[    2.175000]     # inode_test_xtimestamp_decoding: EXPECTATION FAILED at"
        " fs/ext4/inode-test.c:260\n[    2.180000] clock",
    )
)


def test_suites_are_counted_by_their_own_results() -> None:
    ext4, lists = ktap.read(PASSES.replace("\n", "\r\n"))
    assert (ext4.name, ext4.passed, ext4.ended) == ("ext4_inode_test", 1, True)
    assert (lists.name, lists.passed, lists.skipped, lists.failed) == ("list-kunit-test", 2, 1, [])
    assert judge(QUIET + PASSES).clean
    assert ktap.read(PASSES.replace("[    2.1", "said [ 2.1"))[0].name == "list-kunit-test"


def test_a_failing_test_is_named_with_its_parameter_and_reason() -> None:
    verdict = judge(QUIET + FAILS)
    assert verdict.failures == (
        "kunit: ext4_inode_test.inode_test_xtimestamp_decoding: 1969-12-31 Upper bound of 32bit"
        " < 0 timestamp, no extra bits - EXPECTATION FAILED at fs/ext4/inode-test.c:260",
    )
    assert not verdict.clean
    assert "EXPECTATION FAILED" in first_complaint(QUIET + FAILS).splitlines()[0]


def test_a_suite_that_does_not_end_has_failed() -> None:
    cut = QUIET + PASSES.partition("[    2.290000]")[0]
    assert judge(cut).failures == ("kunit: list-kunit-test did not finish",)
    alone = PASSES.replace("] ok 2 list-kunit-test", "] not ok 2 list-kunit-test")
    assert judge(QUIET + alone).failures == ("kunit: list-kunit-test.the suite itself failed",)


@pytest.mark.parametrize(
    ("files", "suites"),
    [
        (["fs/ext4/inode.c", "fs/ext4/super.c"], {"ext4_inode_test"}),
        (["fs/fat/misc.c"], {"fat_test"}),
        (["mm/slub.c"], {"slub_test"}),
        (["include/linux/list.h"], {"list-kunit-test", "hlist"}),
        (["include/linux/list_sort.h", "lib/sort.c"], {"list_sort", "lib_sort"}),
        (["fs/pipe.c", "mm/vmscan.c"], set()),
    ],
)
def test_suites_fit_by_the_files_of_a_patch(files: list[str], suites: set[str]) -> None:
    assert {name for one in fitting(files) for name in one.suites} == suites


def test_the_table_names_each_option_and_suite_once() -> None:
    assert len({one.option for one in ALL}) == len(ALL)
    names = [name for one in ALL for name in one.suites]
    assert len(set(names)) == len(names)
    options = read_options(fragment(fitting(["fs/fat/dir.c"])))
    assert list(options)[-2:] == ["CONFIG_MSDOS_FS", "CONFIG_FAT_KUNIT_TEST"]
    assert options["CONFIG_KUNIT_DEFAULT_ENABLED"] == "y", "else KUnit says `disabled`"
    assert options["CONFIG_RUNTIME_TESTING_MENU"] == "y", "else suites of lib/ cannot be asked for"


def test_selftests_that_nobody_runs_are_named_by_the_longest_prefix() -> None:
    assert about(["mm/shmem.c", "mm/vmscan.c", "mm/slub.c"]) == ["memfd", "tmpfs", "vm"]
    assert about(["kernel/sched/membarrier.c", "fs/xfs/xfs_icache.c"]) == ["membarrier"]
    known = {folder for folders in FOLDERS.values() for folder in folders}
    trees = find_sources()
    for tree in trees:
        there = {path.name for path in (tree / "tools/testing/selftests").iterdir()}
        assert known <= there, tree


def find_sources() -> list[Path]:
    """Source trees of 6.1 on this machine, if there are any."""
    trees = cache_dir() / "tree"
    return [path for path in trees.glob("linux-source-6.1-*/src") if (path / "tools").is_dir()]


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    monkeypatch.setenv("DUET_TRIALS", str(tmp_path))
    monkeypatch.setenv(EXTRA_LESSONS, "")
    monkeypatch.setattr(trial_run, "known_programs", lambda: frozenset({"sleep", "sh"}))
    made = read_check(Asked(run="", patches=(PATCH,)))
    return _touching(made, "fs/ext4/inode.c")


def _touching(trial: Trial, name: str) -> Trial:
    stock, arm = trial.arms
    patch = arm.patches[0]
    other = replace(patch, diff=patch.diff.replace(touched_files([arm])[0], name))
    return replace(trial, arms=(stock, replace(arm, patches=(other,))))


def test_options_are_only_asked_for_where_a_suite_fits(trial: Trial, tmp_path: Path) -> None:
    assert touched_files(trial.arms) == ["fs/ext4/inode.c"]
    (more,) = settings_of(trial, tmp_path).more
    assert "CONFIG_EXT4_KUNIT_TESTS" in read_options(more.read_text())
    races = settings_of(trial, tmp_path, races=True)
    assert races.more and races.races
    plain = settings_of(_touching(trial, "fs/pipe.c"), tmp_path)
    assert plain.more == () and plain.debug


def test_results_are_in_the_report(
    trial: Trial, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what = CheckRequest(Asked(run=""), 60, True)
    assert finish(what, trial, tmp_path, images(trial), lambda *_: FAILS + QUIET) == BAD
    arm = json.loads(capsys.readouterr().out)["arms"][0]
    assert [one["suite"] for one in arm["kunit"]] == ["ext4_inode_test", "list-kunit-test"]
    assert arm["kunit"][0]["failed"] and arm["kunit"][1]["passed"] == 2
    text = (tmp_path / "check.md").read_text()
    assert "KUnit `list-kunit-test`: 2 passed, 1 skipped" in text
    assert "    kunit: ext4_inode_test.inode_test_xtimestamp_decoding" in text
    assert finish(what, trial, tmp_path, images(trial), lambda *_: QUIET) == 0
    assert arm["selftests_not_run"] == [], "6.1 has none for ext4"
    assert "`ext4_inode_test` fits, but gave no result" in (tmp_path / "check.md").read_text()
