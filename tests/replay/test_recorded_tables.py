# SPDX-License-Identifier: GPL-2.0-or-later
"""Every recording gives the same tables as before, to the byte, however its pages are cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from duet.bundle import open_bundle
from tests.replay.tables import ROOT, STORED, TICK_NS, digest, recordings

DIGESTS = json.loads(STORED.read_text())


@pytest.mark.parametrize("path", recordings(), ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_recording_gives_the_same_tables_as_before(path: Path) -> None:
    """After a change that is meant: python -m tests.replay.tables --write."""
    bundle = open_bundle(path)
    found = {entry.name: digest(bundle, entry.name) for entry in bundle.manifest.arms}
    assert found == DIGESTS[str(path.relative_to(ROOT))]


def test_a_recording_in_other_steps_gives_other_digests() -> None:
    """The test above could not fail if the digest left out the tables."""
    bundle = open_bundle(ROOT / "lessons/02-grace-periods/recorded/3-hogs.duet")
    arm = bundle.manifest.arms[0].name
    assert digest(bundle, arm) == digest(bundle, arm, TICK_NS)
    assert digest(bundle, arm, TICK_NS * 5) != digest(bundle, arm)


def test_no_digest_belongs_to_a_recording_that_is_gone() -> None:
    assert {str(path.relative_to(ROOT)) for path in recordings()} == set(DIGESTS)
