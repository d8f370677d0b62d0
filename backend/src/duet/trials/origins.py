# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel of a trial was made of, in words: its source tree and its patches."""

from __future__ import annotations

import hashlib

from duet.kernels.recipe import patch_diff
from duet.measure.reports.parts import source_words
from duet.trials.mails import Patch
from duet.trials.spec import TrialArm

SHORT = 12
"""Digits of a hash that are shown."""


def diff_sha256(patch: Patch) -> str:
    """As reports have it: of the diff alone."""
    return hashlib.sha256(patch_diff(patch.text()).encode()).hexdigest()


def origins(arm: TrialArm) -> tuple[str, ...]:
    """One line for the tree, if there is one, and one for each patch."""
    tree = [source_words(arm.source)] if arm.source is not None else []
    return (*tree, *(_words(patch) for patch in arm.patches))


def _words(patch: Patch) -> str:
    commit = f"commit {patch.commit[:SHORT]}, " if patch.commit else ""
    return f"“{patch.subject}”: {commit}diff of sha256 {diff_sha256(patch)[:SHORT]}"
