# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording and a recorded table are of the patches and the config of the tree."""

from __future__ import annotations

import json
from pathlib import Path

from duet.lessons.load import load
from duet.lessons.view import read_views
from duet.lint.finding import Finding, NotChecked, Subject
from duet.lint.recorded import fresh
from tests.support.planted import SLUG

ARMS = ("rwsem", "srcu", "srcu-expedited")
RECORDED = f"lessons/{SLUG}/recorded"


def findings(root: Path) -> list[Finding]:
    found = fresh(Subject(load(SLUG), root, read_views()))
    return [one for one in found if isinstance(one, Finding)]


def test_what_was_made_of_the_trees_kernels_is_fresh(recorded: Path) -> None:
    assert findings(recorded) == []


def test_one_line_less_of_a_patch_is_named_with_arm_and_command(recorded: Path) -> None:
    patch = recorded / "kernel-patches" / SLUG / "srcu.patch"
    lines = patch.read_text().splitlines(keepends=True)
    added = next(n for n, line in enumerate(lines) if line.startswith("+\t"))
    patch.write_text("".join(lines[:added] + lines[added + 1 :]))
    bundle, table = findings(recorded)
    changed = f"the kernel of srcu differs from the recorded one ({SLUG}/srcu.patch has changed)"
    assert bundle.sentence == changed
    assert table.sentence == f"measured storm count hogs=9: {changed}"
    assert {one.remedy for one in (bundle, table)} == {
        f"Make it again with ./duet record-all {SLUG}."
    }
    assert bundle.file is not None and bundle.file.name == "1-hog.duet"


def test_another_config_concerns_every_arm(recorded: Path) -> None:
    with (recorded / "kernel-patches/bases/6.1/base.config").open("a") as config:
        config.write("CONFIG_TEST_ONLY=y\n")
    found = findings(recorded)
    assert len(found) == 2 * len(ARMS)
    assert all("the config has changed" in one.sentence for one in found)


def test_a_message_and_a_name_of_a_patch_do_not_count(recorded: Path) -> None:
    patches = recorded / "kernel-patches" / SLUG
    patch = patches / "srcu.patch"
    patch.write_text(patch.read_text().replace("Subject: ", "Subject: [v2] "))
    both = next((patches / "both").glob("*.patch"))
    both.rename(both.with_name("0007-renamed.patch"))
    assert findings(recorded) == []


def test_what_is_known_to_be_stale_is_not_checked_and_only_that(recorded: Path) -> None:
    with (recorded / "kernel-patches/bases/6.1/base.config").open("a") as config:
        config.write("CONFIG_TEST_ONLY=y\n")
    (recorded / RECORDED / "stale.txt").write_text("1-hog\n")
    found = list(fresh(Subject(load(SLUG), recorded, read_views())))
    assert [one.sentence for one in found if isinstance(one, NotChecked)] == [
        "1-hog is stale, and stale.txt lists it to be made again"
    ]
    assert len([one for one in found if isinstance(one, Finding)]) == len(ARMS)


def test_a_table_that_does_not_say_of_what_it_was_made(recorded: Path) -> None:
    path = recorded / RECORDED / "measured.json"
    tree = json.loads(path.read_text())
    del tree["tables"][0]["made"]
    path.write_text(json.dumps(tree))
    assert [one.sentence.partition(": ")[2] for one in findings(recorded)] == [
        f"the kernel of {arm} differs from the recorded one (the recording does not name its "
        "patches and config)"
        for arm in ARMS
    ]
