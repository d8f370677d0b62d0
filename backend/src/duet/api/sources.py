# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel source that a visitor may change, as one arm has it."""

from __future__ import annotations

from duet.api import bodies
from duet.serve.director import Director


def source_body(director: Director, slug: str, arm: str) -> bodies.ArmSource:
    """The answer of /api/lessons/{slug}/arms/{arm}/source. Blocking: it reads and patches files.

    Raises:
        DuetError: no such lesson or arm, or its source is not here.
    """
    files = [
        bodies.SourceFile(
            name=file.name,
            text=file.text,
            regions=[
                bodies.SourceRegion(title=one.title, first=one.first, last=one.last)
                for one in file.regions
            ],
        )
        for file in director.own.source(slug, arm)
    ]
    return bodies.ArmSource(arm=arm, off=director.own.off(), files=files)
