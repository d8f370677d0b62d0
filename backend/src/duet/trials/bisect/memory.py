# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bisection has measured so far, in a file, so that the same call goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from duet import durable
from duet.trials.bisect.search import Measured
from duet.trials.command import BadCommand, read_command

FILE = "measured.json"


class Memory:
    """The file FOLDER/measured.json: a question, and commit -> what was measured.

    Args:
        question: everything that the numbers depend on; with another one the file begins anew.
    """

    def __init__(self, folder: Path, question: Mapping[str, object]) -> None:
        self._path = folder / FILE
        self._question = json.loads(json.dumps(question))
        self.known = self._read()

    def store(self, commit: str, measured: Measured) -> None:
        """Add one, at once."""
        self.known[commit] = measured
        tree = {name: asdict(one) for name, one in self.known.items()}
        text = json.dumps({"question": self._question, "measured": tree}, indent=2)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        durable.write(self._path, (text + "\n").encode())

    def _read(self) -> dict[str, Measured]:
        try:
            tree = json.loads(self._path.read_text(encoding="utf-8"))
            if tree["question"] != self._question:
                return {}
            return {name: Measured(**one) for name, one in tree["measured"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # nothing was stored, or by another version: it is measured again


def files_digest(run: str) -> str:
    """Of the files of this machine that a command needs."""
    digest = hashlib.sha256()
    try:
        files = read_command(run, frozenset()).files
    except BadCommand:  # it is refused later
        files = {}
    for place, path in sorted(files.items()):
        digest.update(f"{place}\0".encode() + path.read_bytes())
    return digest.hexdigest()
