# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet export`: a recording in the formats of other programs."""

from __future__ import annotations

from pathlib import Path

from duet.api.export import export as write
from duet.bundle import open_bundle
from duet.cli.output import emit


def export(file: Path, to: str, out: Path, force: bool, as_json: bool) -> int:
    """See `duet export --help`."""
    written = write(open_bundle(file), to, out, force=force)
    if as_json:
        files = [{"path": path, "bytes": size} for path, size in written.items()]
        emit({"file": str(file), "to": to, "files": files})
        return 0
    for path, size in written.items():
        print(f"{path} ({size:,} bytes)")
    return 0
