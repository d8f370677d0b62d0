# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel of a trial in the document of `duet try`."""

from __future__ import annotations

from duet.cli.results.trying import TriedArm, TriedPatch, TriedSource
from duet.kernels import KernelImage
from duet.measure.model import SourceFacts
from duet.trials.kernels import diff_sha256
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
        source=tried_source(arm.source),
        made_of=[tried_patch(patch) for patch in arm.patches],
    )


def tried_source(facts: SourceFacts | None) -> TriedSource | None:
    """The tree of a kernel."""
    if facts is None:
        return None
    commit, describe, changes = (
        text or None for text in (facts.commit, facts.describe, facts.changes)
    )
    return TriedSource(facts.version, commit, describe, facts.tree, facts.dirty, changes)


def tried_patch(patch: Patch) -> TriedPatch:
    """One patch of a kernel."""
    return TriedPatch(patch.subject, diff_sha256(patch), patch.commit or None, patch.link or None)
