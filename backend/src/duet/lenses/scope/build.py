# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile the microscope (vm-images/microscope) for the QEMU at hand. About two seconds, once."""

from __future__ import annotations

import re
from pathlib import Path

from duet.errors import InfraError
from duet.native import compiled
from duet.settings import repo_root

FLAGS = ("-flto", "-fvisibility=hidden", "-pthread", "-Wmissing-prototypes", "-Wstrict-prototypes")


def plugin_library(qemu_version: str) -> Path:
    """The plugin as a library, compiled if need be.

    Args:
        qemu_version: as duet.guests.qemu.qemu_version() says it, e.g. "7.2.22".

    Raises:
        InfraError: QEMU is too old or of no known version, or the compiler is missing or refuses.
    """
    folder = repo_root() / "vm-images" / "microscope"
    source = folder / "plugin.c"
    rest = [file for file in sorted(folder.glob("*.[ch]")) if file != source]
    flags = (*FLAGS, f"-DSCOPE_API={plugin_api(qemu_version)}")
    return compiled(source, rest=rest, flags=flags)


def plugin_api(qemu_version: str) -> int:
    """Version of the plugin interface to compile for; see vm-images/microscope/api.h.

    Raises:
        InfraError: this QEMU has none, or its version is not known.
    """
    found = re.match(r"(\d+)\.(\d+)", qemu_version)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < (6, 0):
        raise InfraError(
            f"the microscope wants QEMU 6.0 or newer, but version '{qemu_version:.20}' came.",
            remedy="Install a newer one: apt-get install qemu-system-x86",
        )
    if version < (9, 0):
        return 1
    return 2 if version < (9, 1) else 3
