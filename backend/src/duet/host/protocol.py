# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between a server and its host processes. Requests contain lessons as names, and changes
as text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Final, TypeVar

import msgpack
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet import messages as m
from duet.base import files as durable
from duet.base.errors import InfraError, printable
from duet.base.settings import live_buffer_kb
from duet.lessons import load as lesson_cache
from duet.lessons.load import LessonFolder
from duet.lessons.own import with_own
from duet.messages.base import message_parser
from duet.messages.codec import Packet, pack_line, packet_of
from duet.rpc.link import protocol_violation
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.session import RunSpec


class MessageBody(BaseModel):
    """Body of a call or note from a server to a host process or to another server."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def packed(self) -> bytes:
        return bytes(msgpack.packb(self.model_dump()))


P = TypeVar("P", bound=MessageBody)


def read(kind: type[P], body: bytes) -> P:
    """Decode a body.

    Raises:
        InfraError: the body does not match the expected model.
    """
    try:
        return kind.model_validate(msgpack.unpackb(body, raw=False))
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        why = type(error).__name__
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            why = f"{'.'.join(map(str, first['loc'])):.80}: {first['msg']:.200}"
        raise protocol_violation(f"a malformed {kind.__name__} ({printable(why)})") from error


class OwnArm(MessageBody):
    """Arm that a visitor has made by adding a patch to an arm of the lesson."""

    name: str
    summary: str
    patch: str


class SentRun(MessageBody):
    """A run before its start.

    Args:
        run: the run's first message, which pages also receive.
        missing: arms of the run whose kernels are not built; these arms do not run.
        own: arms that the visitor has made.
    """

    run: m.Run
    missing: list[str] = []
    own: list[OwnArm] = []


class Perform(MessageBody):
    """Request to perform a run on the guests of a slot.

    Args:
        lanes: if other hosts run some lanes, the lanes that run here; these start when the note
            'go' arrives. [] if all lanes run here.
    """

    slot: int
    what: SentRun
    lanes: list[str] = []


class Expect(MessageBody):
    """A note about a run that may be requested soon. The call 'others' returns more such runs."""

    what: SentRun


class Others(MessageBody):
    """Answer to 'others': runs that may be requested later."""

    runs: list[SentRun]


class MeasureIt(MessageBody):
    """Request to measure a run's headline metric."""

    what: SentRun
    repeats: int


class JudgeIt(MessageBody):
    """Request to judge an arm by a challenge."""

    what: SentRun
    challenge: str
    arm: str


class OfRun(MessageBody):
    """Request about a run: to stop or hold it, to perform an act, or to return records."""

    run_id: str
    name: str = ""
    value: int = 0
    on: bool = False
    arm: str = ""
    around_ns: float = 0
    row: int | None = None
    most: int = 0
    cpu: int | None = None


class Counts(MessageBody):
    """A note with the counts of templates (guests.clones.TemplateCounts)."""

    counts: dict[str, int]


class Begin(MessageBody):
    """First request to a host process.

    Args:
        slots: number of concurrent runs.
        source: kernel source; None for the default.
        base_name: name of the kernel base; None for the default.
    """

    slots: int = Field(ge=1, le=64)
    source: str | None = None
    base_name: str | None = None


def first_message(spec: RunSpec) -> m.Run:
    """Return the message of a run before its start."""
    return m.Run(
        run_id=spec.run_id,
        lesson=spec.folder.slug,
        source="live",
        clock=spec.clock,
        shift=spec.shift,
        params=spec.params,
        workload=spec.workload,
        arms=[*spec.arms, *spec.missing],
        phase="preparing",
    )


def sent_run(spec: RunSpec) -> SentRun:
    """Encode a run, and read the visitor's patches. This blocks while it reads some KiB."""
    folder = spec.folder
    own = [
        OwnArm(
            name=arm,
            summary=folder.arm(arm).summary,
            patch=folder.changes[arm].read_text(encoding="utf-8"),
        )
        for arm in spec.arms
        if arm in folder.changes
    ]
    return SentRun(run=first_message(spec), missing=list(spec.missing), own=own)


class Requests:
    """Convert decoded bodies to requests.

    Args:
        folder: folder for patches of visitors' changes; the path of a patch contains a digest of
            its content.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, of: SentRun) -> RunSpec:
        """Convert the description of a run.

        Raises:
            InputError: this host has no such lesson or arm.
        """
        run, arms = of.run, tuple(arm for arm in of.run.arms if arm not in of.missing)
        return RunSpec(
            folder=self._lesson(of, arms),
            arms=arms,
            workload=run.workload,
            params=run.params,
            clock=run.clock,
            run_id=run.run_id,
            missing=tuple(of.missing),
            shift=run.shift,
            buffer_kb=live_buffer_kb(),
        )

    def measurement(self, of: MeasureIt) -> MeasureRequest:
        """Convert the request for a measurement.

        Raises:
            InputError: this host has no such lesson or arm.
        """
        return MeasureRequest(self.run(of.what), of.repeats)

    def judgement(self, of: JudgeIt) -> JudgeRequest:
        """Convert the request for a judgement.

        Raises:
            InputError: this host has no such lesson or arm.
        """
        return JudgeRequest(self.run(of.what), of.challenge, of.arm)

    def _lesson(self, of: SentRun, arms: Collection[str]) -> LessonFolder:
        folder = lesson_cache.find(of.run.lesson)
        for own in of.own:
            folder = with_own(folder, own.name, summary=own.summary, change=self._patch(own))
        for arm in arms:
            folder.arm(arm)
        return folder

    def _patch(self, own: OwnArm) -> Path:
        """Write a patch to `kernel-patches/DIGEST/ARM.patch` and return its path.

        In manifests, paths of patches are relative to a folder `kernel-patches`
        (recipe.read_patch).
        """
        text = own.patch.encode()
        digest = hashlib.sha256(text).hexdigest()
        place = self._folder / "kernel-patches" / digest[:16] / f"{own.name}.patch"
        if not place.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            durable.write(place, text)
        return place


# Packets of a run from a host process to the server.
#
# The server validates the packets, so even a compromised host process can send browsers only
# messages of its own run.


FIXED: Final = ("lesson", "source", "purpose", "clock", "shift", "workload", "arms")
"""Fields of a run's message that never change."""
SEQ_BYTES: Final = 8


def packed(packet: Packet) -> bytes:
    """Encode a packet: its line number, then its body.

    The body does not contain the line number.
    """
    seq = packet.span.seq if packet.type == "line" and packet.span is not None else 0
    return seq.to_bytes(SEQ_BYTES, "little") + packet.body


def read_packet(
    travelled: bytes, of: m.Run, arms: Collection[str] | None = None
) -> tuple[m.SessionMessage, Packet]:
    """Decode and validate a message of a run; return it with the packet for browsers.

    Args:
        of: the run's first message.
        arms: lanes of the run on this host; None for all lanes.

    Raises:
        InfraError: the message is malformed, or belongs to another run or lane.
    """
    body = travelled[SEQ_BYTES:]
    try:
        message: m.SessionMessage = message_parser(m.SessionMessage).validate_python(
            msgpack.unpackb(body, raw=False)
        )
    except (ValueError, TypeError, ValidationError, msgpack.UnpackException) as error:
        raise _invalid("the message is malformed") from error
    if message.run_id != of.run_id:
        raise _invalid(f"the message belongs to the run '{message.run_id:.80}'")
    if isinstance(message, m.Run):
        if any(getattr(message, name) != getattr(of, name) for name in FIXED):
            raise _invalid("the message changes a fixed field of the run")
    elif (arm := getattr(message, "arm", "")) not in (of.arms if arms is None else arms):
        raise _invalid(f"the message belongs to a lane '{arm:.80}'")
    if isinstance(message, m.Line):
        seq = int.from_bytes(travelled[:SEQ_BYTES], "little")
        return message, pack_line(message, seq, body)
    return message, packet_of(message, body)


def _invalid(why: str) -> InfraError:
    return InfraError(
        f"the host process has sent an invalid message of the run: {why}.",
        remedy="Start the run again; if this happens again, read the server's log.",
    )
