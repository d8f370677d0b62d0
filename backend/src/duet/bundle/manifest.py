# SPDX-License-Identifier: GPL-2.0-or-later
"""manifest.json of a bundle: what was run, on what, with which losses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from duet.errors import InputError

FORMAT: Literal[1] = 1
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ArmName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Text = Annotated[str, Field(max_length=4000)]
Facts = Annotated[dict[str, Text], Field(max_length=64)]


class Strict(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ArmEntry(Strict):
    """One lane of the recording.

    `symbols` holds the kernel addresses that the lesson's rules mention, so that a replay needs
    no System.map.
    """

    name: ArmName
    title: Text
    role: Literal["before", "after", "alternative", "mainline"]
    patches: Annotated[tuple[Text, ...], Field(max_length=32)] = ()
    kernel: dict[str, JsonValue] = Field(default_factory=dict)
    symbols: dict[str, int] = Field(default_factory=dict)
    loss: dict[str, int] = Field(default_factory=dict)


class Manifest(Strict):
    """The whole manifest; `sums` (member -> sha256) is filled in by the writer."""

    format: Literal[1] = FORMAT
    created: Annotated[str, Field(max_length=40)]
    lesson: Annotated[str, Field(pattern=r"^\d{2}-[a-z0-9-]{1,60}$")]
    clock: Literal["wall", "count"]
    params: dict[str, int]
    workload: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    arms: Annotated[tuple[ArmEntry, ...], Field(min_length=1, max_length=5)]
    host: Facts = Field(default_factory=dict)
    versions: Facts = Field(default_factory=dict)
    sums: dict[str, Sha256] = Field(default_factory=dict)

    def arm(self, name: str) -> ArmEntry:
        """The lane of that name.

        Raises:
            InputError: the recording has none.
        """
        for entry in self.arms:
            if entry.name == name:
                return entry
        raise InputError(
            f"the recording has no lane '{name:.60}'.",
            remedy=f"Choose from: {', '.join(entry.name for entry in self.arms)}.",
        )
