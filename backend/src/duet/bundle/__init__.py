# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles: `.duet` files, each with one recorded run."""

from duet.bundle.manifest import ArmEntry, Figures, Manifest, Record, Waited, patches_of
from duet.bundle.reader import Bundle, open_bundle, read_manifest
from duet.bundle.writer import trim, write_bundle

__all__ = [
    "ArmEntry",
    "Bundle",
    "Figures",
    "Manifest",
    "Record",
    "Waited",
    "open_bundle",
    "patches_of",
    "read_manifest",
    "trim",
    "write_bundle",
]
