# SPDX-License-Identifier: GPL-2.0-or-later
"""The result file of `duet microscope --native`, which lies beside a lesson's recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from duet.errors import InputError
from duet.stream.messages.native import NativeView

NATIVE: Final = "recorded/native.json"
"""In the lesson's folder."""


def read_native(folder: Path) -> NativeView | None:
    """What was measured for the lesson of that folder; None: there is no file.

    Raises:
        InputError: the file is not what --native writes, or of another lesson.
    """
    path = folder / NATIVE
    if not path.is_file():
        return None
    remedy = f"Make it anew with ./duet microscope {folder.name} --native, or delete it."
    try:
        found = NativeView.model_validate(json.loads(path.read_bytes()))
    except (ValueError, ValidationError) as error:
        raise InputError(
            f"{folder.name}/{NATIVE} is not what --native writes.",
            remedy=remedy,
            detail=str(error),
        ) from error
    if found.lesson != folder.name:
        raise InputError(
            f"{folder.name}/{NATIVE} was measured for lesson {found.lesson:.60}.", remedy=remedy
        )
    return found
