# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server says of a stored kernel, and what a host checks of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from duet.hosts.limits import KERNEL_FILE_BYTES
from duet.kernels import Manifest
from duet.kernels.image import FILES


class FileFacts(BaseModel):
    """Of one file."""

    model_config = ConfigDict(extra="forbid")

    size_bytes: Annotated[int, Field(gt=0, le=KERNEL_FILE_BYTES)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class KernelList(BaseModel):
    """A kernel: its manifest, and its files by name."""

    model_config = ConfigDict(extra="forbid")

    manifest: Manifest
    files: dict[str, FileFacts]

    @model_validator(mode="after")
    def _whole(self) -> KernelList:
        if set(self.files) != set(FILES):
            raise ValueError("its files are others than those of a kernel")
        return self
