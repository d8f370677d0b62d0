# SPDX-License-Identifier: GPL-2.0-or-later
"""Of trace.yaml: what x-ray and microscope look at."""

from __future__ import annotations

from pydantic import Field, model_validator

from duet.lessons.schema.base import Fault, Name, Strict, refuse

ACCESS = ("at", "size", "class", "function", "operation")
"""Fields of an access: byte in the object, bytes, 0 read 1 write 2 read-modify-write, number of the
function in `microscope.functions`, number of the operation on that vCPU (0: in none)."""


class XrayConfig(Strict):
    """A structure of the running kernel that the x-ray reads (docs/PROBES.md)."""

    probe: Name = Field(
        description="a file of the lesson's probes/ or a generic one, e.g. variable; "
        "with dashes, without .py"
    )
    hz: float = Field(default=10, gt=0, le=30, description="samples a second of host time")
    of: str = Field(default="", description="which of several; the probe says what that is")
    workloads: tuple[Name, ...] = Field(default=(), description="default: every workload")


class MicroscopeConfig(Strict):
    """Every load and store that these functions make, seen from outside.

    With an object: the workload makes it, says `ready` and waits for `go` on its standard input;
    by then the x-ray has found the object, and the microscope watches it. Without one it counts
    from the workload's start, which is enough for metrics of variables.
    """

    functions: tuple[str, ...] = Field(
        min_length=1, max_length=256, description="kernel functions whose accesses are watched"
    )
    operation: str = Field(description="of the functions, the one whose call is an operation")
    until: str = Field(
        default="",
        description="of the functions, the one whose return ends the operation; default: the "
        "operation's own",
    )
    probe: Name | None = Field(
        default=None,
        description="x-ray probe whose facts `found`, `address48` and `size` are the object's and "
        "whose rows are its fields; none: no object is watched",
    )
    object: str = Field(default="", description="its type, e.g. 'struct dentry'")
    ready: str = Field(default="", description="regex on the workload's lines")
    go: str = Field(default="", description="line for the workload's standard input")
    log: int = Field(default=20_000, ge=0, le=1_000_000, description="accesses stored one by one")
    workloads: tuple[Name, ...] = Field(min_length=1, description="where it is used")

    @model_validator(mode="after")
    def object_is_whole(self) -> MicroscopeConfig:
        """An object is found by a probe and waited for, or there is none."""
        given = {"probe": self.probe, "object": self.object, "ready": self.ready, "go": self.go}
        missing = [name for name, value in given.items() if not value]
        if 0 < len(missing) < len(given):
            what = f"an object has probe, object, ready and go, and this one lacks {missing[0]}"
            remedy = f"Add `{missing[0]}:`, or leave all four out to watch no object."
            refuse("MicroscopeConfig", [Fault((), what, remedy)])
        return self
