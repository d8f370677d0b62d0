# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings for the tests of verbs that read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from duet.base.settings import repo_root
from duet.bundle import Bundle, Manifest, Record, write_bundle

SMALL = "04-extent-shrinker/recorded/one-file.duet"


def recording(name: str = SMALL) -> Path:
    """A recording of a lesson."""
    return repo_root() / "lessons" / name


def rewritten(
    path: Path,
    bundle: Bundle,
    manifest: Callable[[Manifest], Manifest] = lambda same: same,
    records: Callable[[list[Record]], list[Record]] = lambda same: same,
) -> Path:
    """The bundle with another manifest or other records; its sums are right again."""
    lanes = {arm.name: records(list(bundle.records(arm.name))) for arm in bundle.manifest.arms}
    patches = {patch: bundle.patch(patch) for patch in bundle.patches}
    write_bundle(path, manifest(bundle.manifest), lanes, patches)
    return path
