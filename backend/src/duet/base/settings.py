# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things lie: the repository, the cache, and the few environment variables."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from duet.base.errors import InputError

ROOT = "DUET_ROOT"


def repo_root() -> Path:
    """The checkout that this package was started from.

    $DUET_ROOT wins; else the folder three above this file (backend/src/duet).
    """
    given = os.environ.get(ROOT)
    return Path(given) if given else Path(__file__).resolve().parents[4]


EXTRA_LESSONS = "DUET_LESSONS"


def extra_lessons() -> tuple[Path, ...]:
    """Folders with further lessons, in order: $DUET_LESSONS, with ':' between them."""
    given = os.environ.get(EXTRA_LESSONS, "")
    return tuple(dict.fromkeys(Path(name).resolve() for name in given.split(":") if name))


def default_base() -> str | None:
    """The kernel base of arms that name none: $DUET_BASE, a name or a path; None: the usual one."""
    return os.environ.get("DUET_BASE") or None


def default_source() -> Path | None:
    """What the kernels of the usual base are built from: $DUET_SOURCE; None: as the base says."""
    given = os.environ.get("DUET_SOURCE")
    return Path(given) if given else None


def patch_files() -> tuple[str, ...]:
    """What patches of strangers may change beyond sources and headers: $DUET_PATCH_FILES.

    Patterns of fnmatch with ':' between, such as 'Makefile:*/Makefile'; '*' is every file.
    """
    return tuple(part for part in os.environ.get("DUET_PATCH_FILES", "").split(":") if part)


def build_sandbox() -> str:
    """Whether patches from outside of the repository are built in a box: $DUET_BUILD_SANDBOX.

    "off" (default), "on", or "auto": where a box can be made.

    Raises:
        InputError: another word.
    """
    given = os.environ.get("DUET_BUILD_SANDBOX", "") or "off"
    if given not in ("on", "off", "auto"):
        raise InputError(
            f"DUET_BUILD_SANDBOX must be on, off or auto, but {given!r:.40} came.",
            remedy="Unset it for off.",
        )
    return given


def changes_allowed() -> bool:
    """Whether visitors may change patches, where a sandbox can be made: $DUET_CHANGES, on or off.

    Raises:
        InputError: another word.
    """
    given = os.environ.get("DUET_CHANGES", "") or "on"
    if given not in ("on", "off"):
        raise InputError(
            f"DUET_CHANGES must be on or off, but {given!r:.40} came.",
            remedy="Unset it for on.",
        )
    return given == "on"


def public_url() -> str:
    """The address that browsers open, where a proxy stands before the server: $DUET_PUBLIC_URL."""
    return os.environ.get("DUET_PUBLIC_URL", "")


def trusted_proxies() -> tuple[str, ...]:
    """Addresses and networks of proxies: $DUET_TRUSTED_PROXIES, with ',' between them."""
    given = os.environ.get("DUET_TRUSTED_PROXIES", "")
    return tuple(part.strip() for part in given.split(",") if part.strip())


def log_form() -> str:
    """How the server writes its log: $DUET_LOG, text (default) or json.

    Raises:
        InputError: another word.
    """
    given = os.environ.get("DUET_LOG", "") or "text"
    if given not in ("text", "json"):
        raise InputError(
            f"DUET_LOG must be text or json, but {given!r:.40} came.", remedy="Unset it for text."
        )
    return given


def cache_dir() -> Path:
    """Kernels, roots and tools that may be built again: $DUET_CACHE or the user's cache."""
    given = os.environ.get("DUET_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("kernel-duet"))


def live_buffer_kb() -> int | None:
    """Ring buffer per CPU of live runs in KiB: $DUET_BUFFER_KB, else None (the session's own).

    A small one forces overruns, to see that the page tells them.

    Raises:
        InputError: not a whole number from 4 to 262144.
    """
    given = os.environ.get("DUET_BUFFER_KB", "")
    if given == "":
        return None
    if not given.isdecimal() or not 4 <= int(given) <= 262144:
        raise InputError(
            f"DUET_BUFFER_KB must be a whole number from 4 to 262144, but {given!r:.40} came.",
            remedy="Unset it for the usual size.",
        )
    return int(given)


def access_file() -> Path:
    """Hashes of tokens and the key of sessions: $DUET_ACCESS or in the user's data folder."""
    given = os.environ.get("DUET_ACCESS")
    return Path(given) if given else Path(platformdirs.user_data_dir("kernel-duet"), "access.json")


SAVED_RUNS = 40
SAVED_MB = 1024


def runs_dir() -> Path:
    """Where finished live runs are saved: $DUET_RUNS or the user's data folder."""
    given = os.environ.get("DUET_RUNS")
    return Path(given) if given else Path(platformdirs.user_data_dir("kernel-duet")) / "runs"


def trials_dir() -> Path:
    """Where `duet try` writes its trials: $DUET_TRIALS or the user's data folder."""
    given = os.environ.get("DUET_TRIALS")
    return Path(given) if given else Path(platformdirs.user_data_dir("kernel-duet")) / "trials"


def archive_limits() -> tuple[int, int]:
    """How many live runs are saved, and how many bytes in all: $DUET_SAVED_RUNS, $DUET_SAVED_MB.

    Raises:
        InputError: one of them is not a whole number from 0 to a million.
    """
    runs = whole_number("DUET_SAVED_RUNS", SAVED_RUNS)
    return runs, whole_number("DUET_SAVED_MB", SAVED_MB) << 20


def whole_number(name: str, usual: int, at_zero: str = "keep no run") -> int:
    """A number of the environment, or the usual one.

    Raises:
        InputError: not a whole number from 0 to a million.
    """
    given = os.environ.get(name, "")
    if given == "":
        return usual
    if not given.isdecimal() or int(given) > 1_000_000:
        raise InputError(
            f"{name} must be a whole number from 0 to 1000000, but {given!r:.40} came.",
            remedy=f"Unset it for {usual}, or set it to 0 to {at_zero}.",
        )
    return int(given)
