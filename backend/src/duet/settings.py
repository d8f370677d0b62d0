# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things lie: the repository, the cache, and the few environment variables."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def repo_root() -> Path:
    """The checkout that this package was started from.

    $DUET_ROOT wins; else the folder three above this file (backend/src/duet).
    """
    given = os.environ.get("DUET_ROOT")
    return Path(given) if given else Path(__file__).resolve().parents[3]


def cache_dir() -> Path:
    """Kernels, roots and tools that may be built again: $DUET_CACHE or the user's cache."""
    given = os.environ.get("DUET_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("kernel-duet"))
