# SPDX-License-Identifier: GPL-2.0-or-later
"""Patterns against what workloads have printed."""

from __future__ import annotations

from pathlib import Path

from duet.bundle import read_manifest
from duet.lessons.load import load
from duet.lessons.view import read_views
from duet.lint.finding import Finding, Subject
from duet.lint.names import unmatched
from tests.support.planted import SLUG


def test_a_pattern_that_matches_no_recorded_line(copy: Path, root: Path) -> None:
    """Held against what a workload printed; other workloads' patterns are left alone."""
    subject = Subject(load(SLUG), copy, read_views())
    (path, *_) = sorted((root / "lessons" / SLUG / "recorded").glob("*.duet"))
    manifest = read_manifest(path)
    good = "storm: hogs=3 seconds=2 mounts=10 umounts=10 per_s=5.0"
    assert list(unmatched(subject, [(manifest, {"srcu": [good]})])) == []
    found = list(unmatched(subject, [(manifest, {"srcu": ["storm: all done"]})]))
    places = {one.place for one in found if isinstance(one, Finding)}
    assert ("workloads", "storm", "ops_line") in places
    assert ("workloads", "stress-ng", "ops_line") not in places
    assert "none of 1 recorded lines of the workload, such as 'storm: all done'" in str(found[0])
