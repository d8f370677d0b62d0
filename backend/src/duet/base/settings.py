# SPDX-License-Identifier: GPL-2.0-or-later
"""Read environment variables, and the paths of checkout, cache and data folders."""

from __future__ import annotations

import os
from pathlib import Path

from duet.base.errors import InputError

ROOT = "DUET_ROOT"


def repo_root() -> Path:
    """Return the path in $DUET_ROOT if set, otherwise the checkout that contains this file."""
    given = os.environ.get(ROOT)
    return Path(given) if given else Path(__file__).resolve().parents[4]


EXTRA_LESSONS = "DUET_LESSONS"


def extra_lessons() -> tuple[Path, ...]:
    """Return the folders of additional lessons: $DUET_LESSONS, separated by ':'."""
    given = os.environ.get(EXTRA_LESSONS, "")
    return tuple(dict.fromkeys(Path(name).resolve() for name in given.split(":") if name))


def default_base() -> str | None:
    """Return $DUET_BASE, the name or path of the kernel base for arms that name no base.

    None means the default base.
    """
    return os.environ.get("DUET_BASE") or None


def default_source() -> Path | None:
    """Return $DUET_SOURCE, which replaces the source of the default base; None if it is unset."""
    given = os.environ.get("DUET_SOURCE")
    return Path(given) if given else None


def patch_files() -> tuple[str, ...]:
    """Return patterns of files that untrusted patches may change besides sources and headers.

    The variable $DUET_PATCH_FILES contains fnmatch patterns separated by ':', such as
    'Makefile:*/Makefile'. The pattern '*' matches every file.
    """
    return tuple(part for part in os.environ.get("DUET_PATCH_FILES", "").split(":") if part)


def build_sandbox() -> str:
    """Return whether patches from outside the repository are built in a box: $DUET_BUILD_SANDBOX.

    The value is "off" (the default), "on" or "auto". With "auto", a box is used if this host can
    create one.

    Raises:
        InputError: the variable has another value.
    """
    given = os.environ.get("DUET_BUILD_SANDBOX", "") or "off"
    if given not in ("on", "off", "auto"):
        raise InputError(
            f"DUET_BUILD_SANDBOX must be on, off or auto, but is {given!r:.40}.",
            remedy="Unset it to use off.",
        )
    return given


def changes_allowed() -> bool:
    """Return whether visitors may change patches: $DUET_CHANGES, on (default) or off.

    Changes also require a host that can create a sandbox.

    Raises:
        InputError: the variable has another value.
    """
    given = os.environ.get("DUET_CHANGES", "") or "on"
    if given not in ("on", "off"):
        raise InputError(
            f"DUET_CHANGES must be on or off, but is {given!r:.40}.",
            remedy="Unset it to use on.",
        )
    return given == "on"


def public_url() -> str:
    """Return the URL that browsers open if the server is behind a proxy: $DUET_PUBLIC_URL."""
    return os.environ.get("DUET_PUBLIC_URL", "")


def trusted_proxies() -> tuple[str, ...]:
    """Return addresses and networks of trusted proxies: $DUET_TRUSTED_PROXIES, separated by ','."""
    given = os.environ.get("DUET_TRUSTED_PROXIES", "")
    return tuple(part.strip() for part in given.split(",") if part.strip())


def log_form() -> str:
    """Return the format of the server's log: $DUET_LOG, text (default) or json.

    Raises:
        InputError: the variable has another value.
    """
    given = os.environ.get("DUET_LOG", "") or "text"
    if given not in ("text", "json"):
        raise InputError(
            f"DUET_LOG must be text or json, but is {given!r:.40}.", remedy="Unset it to use text."
        )
    return given


def cache_dir() -> Path:
    """Return the folder of kernels, root images and tools: $DUET_CACHE, or the user's cache folder.

    All files in this folder can be built again.
    """
    given = os.environ.get("DUET_CACHE")
    if given:
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_cache_dir("kernel-duet"))


def _data_dir() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("kernel-duet"))


def live_buffer_kb() -> int | None:
    """Return live runs' ring buffer size in KiB per CPU: $DUET_BUFFER_KB; None for the default.

    A small buffer forces overruns, to test that the page reports them.

    Raises:
        InputError: the variable is not a whole number from 4 to 262144.
    """
    given = os.environ.get("DUET_BUFFER_KB", "")
    if given == "":
        return None
    if not given.isdecimal() or not 4 <= int(given) <= 262144:
        raise InputError(
            f"DUET_BUFFER_KB must be a whole number from 4 to 262144, but is {given!r:.40}.",
            remedy="Unset it to use the usual size.",
        )
    return int(given)


def access_file() -> Path:
    """Return the file of token hashes and the session key.

    The file is $DUET_ACCESS if set, otherwise access.json in the user's data folder.
    """
    given = os.environ.get("DUET_ACCESS")
    return Path(given) if given else _data_dir() / "access.json"


SAVED_RUNS = 40
SAVED_MB = 1024


def runs_dir() -> Path:
    """Return the folder of saved live runs: $DUET_RUNS, or a folder in the user's data folder."""
    given = os.environ.get("DUET_RUNS")
    return Path(given) if given else _data_dir() / "runs"


def trials_dir() -> Path:
    """Return the folder for trials of `duet try`: $DUET_TRIALS, or a folder in the user's data."""
    given = os.environ.get("DUET_TRIALS")
    return Path(given) if given else _data_dir() / "trials"


def archive_limits() -> tuple[int, int]:
    """Return how many live runs may be saved, and their largest total size in bytes.

    The limits come from $DUET_SAVED_RUNS and $DUET_SAVED_MB.

    Raises:
        InputError: one of them is not a whole number from 0 to a million.
    """
    runs = whole_number("DUET_SAVED_RUNS", SAVED_RUNS)
    return runs, whole_number("DUET_SAVED_MB", SAVED_MB) << 20


def whole_number(name: str, usual: int, at_zero: str = "keep no run") -> int:
    """Read a number from an environment variable.

    Args:
        usual: the value if the variable is not set.
        at_zero: what the value 0 does, for the error's remedy.

    Raises:
        InputError: the variable is not a whole number from 0 to a million.
    """
    given = os.environ.get(name, "")
    if given == "":
        return usual
    if not given.isdecimal() or int(given) > 1_000_000:
        raise InputError(
            f"{name} must be a whole number from 0 to 1000000, but is {given!r:.40}.",
            remedy=f"Unset it to use {usual}, or set it to 0 to {at_zero}.",
        )
    return int(given)
