# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of further bases: setup.sh installs a package when its kernel is first asked for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from duet.cli.output import note
from duet.kernels import ArmSpec, KernelSettings
from duet.kernels.bases import Base
from duet.settings import repo_root


def missing_sources(specs: Iterable[ArmSpec], settings: KernelSettings) -> list[Base]:
    """Bases whose source a Debian package would bring, and has not yet."""
    found: dict[str, Base] = {}
    for spec in specs:
        base = settings.base_of(spec)
        replaced = settings.source is not None and base.name == settings.base.name
        if base.source.package and not base.tarball.exists() and not replaced:
            found[base.name] = base
    return list(found.values())


def install_sources(specs: Iterable[ArmSpec], settings: KernelSettings) -> None:
    """Have setup.sh install what is missing; the builder names what it could not get.

    Nothing is done with DUET_SETUP=skip.
    """
    if os.environ.get("DUET_SETUP") == "skip":
        return
    for base in missing_sources(specs, settings):
        note(f"installing {base.source.package}, the source of {base.name}")
        command = [str(repo_root() / "setup.sh"), "source", base.source.package]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
