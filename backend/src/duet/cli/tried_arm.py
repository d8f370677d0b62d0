# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel of a trial in the document of `duet try`."""

from __future__ import annotations

import hashlib

from duet.cli.results.trying import TriedArm, TriedPatch, TriedSource
from duet.kernels import KernelImage
from duet.kernels.recipe import patch_diff
from duet.measure.model import SourceFacts
from duet.trials.mails import Patch
from duet.trials.spec import Trial


def tried_arm(trial: Trial, name: str, image: KernelImage) -> TriedArm:
    """What it was made of."""
    arm = next(arm for arm in trial.arms if arm.name == name)
    return TriedArm(
        arm=name,
        about=arm.about,
        patches=[patch.subject for patch in arm.patches],
        kernel=image.manifest.kernel_version,
        key=str(image.key),
        base=arm.base,
        source=_source(arm.source),
        made_of=[_patch(patch) for patch in arm.patches],
    )


def _source(facts: SourceFacts | None) -> TriedSource | None:
    if facts is None:
        return None
    commit, describe, changes = (
        text or None for text in (facts.commit, facts.describe, facts.changes)
    )
    return TriedSource(facts.version, commit, describe, facts.tree, facts.dirty, changes)


def _patch(patch: Patch) -> TriedPatch:
    digest = hashlib.sha256(patch_diff(patch.text()).encode()).hexdigest()
    return TriedPatch(patch.subject, digest, patch.commit or None, patch.link or None)
