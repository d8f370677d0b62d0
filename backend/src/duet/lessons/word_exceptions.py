# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lint of words lets stand in generic code, each with its reason."""

from __future__ import annotations

_ENGLISH = "plain English, and no name of a lesson where it stands"
GENERIC: dict[str, str] = {
    "running": "a state that every lesson with states has",
    "runnable": "a state that every lesson with states has",
    "wait_other": "a state that every lesson with states has",
    "seconds": "a unit in the names of keys and columns",
    "protocol": "of the wire, of an address",
    "thread": "what a row of threads is called by default",
    "link": "of a page, of the linker, of a library",
    "read": "a kind of access in the microscope's counts",
    "write": "a kind of access in the microscope's counts",
    "rmw": "a kind of access in the microscope's counts",
    "vain": "a colour of the palette, too",
    **dict.fromkeys(
        ("batch", "count", "drop", "entries", "files", "found", "name", "seek", "unknown", "what"),
        _ENGLISH,
    ),
}
"""Names that lessons share with the program -> why they are nobody's own."""

_MODEL = "a setting of the cache model (lenses/scope), after which the knob is named"
EXCEPTIONS: dict[str, dict[str, str]] = {
    "backend/src/duet/lenses/scope/coherence.py": dict.fromkeys(
        ("own_ns", "transfer_ns", "upgrade_ns"), _MODEL
    ),
    "backend/src/duet/lenses/scope/model.py": dict.fromkeys(
        ("own_ns", "owning", "transfer_ns", "upgrade_ns"), _MODEL
    ),
    "backend/src/duet/lenses/scope/native.py": {"own_ns": _MODEL},
    "backend/src/duet/cli/microscope_predict.py": {"owning": _MODEL},
    "backend/src/duet/cli/microscope_table.py": {
        "vcpus": "a key of `duet microscope --json`: how many vCPUs touched a line"
    },
    "backend/src/duet/lenses/identity.py": {
        "dentry": "a slab cache of the kernel and the type of its objects"
    },
    "backend/src/duet/measure/reports/scale.py": {
        "tasks": "the first column of a csv of will-it-scale"
    },
    "backend/src/duet/lessons/manifest.py": {
        "reader": "the former name of the key `other` of a workload"
    },
    "backend/src/duet/cli/commands/options.py": {
        "02-grace-periods": "the example of a slug in the help"
    },
    "backend/src/duet/cli/commands/lenses.py": {
        "shrinker-maps": "the example of a probe in the help, and its documented JSON keys"
    },
}
"""Path -> word -> why it may stand there. To be emptied."""
