# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of lenses out of a recording, within a budget. A bad one spoils the lens, no lane."""

from __future__ import annotations

from duet import budgets
from duet.errors import InputError
from duet.lenses import LensState, unpack_record
from duet.session.accesses import ACCESSES, COUNTS
from duet.session.lane.microscope import LaneMicroscope
from duet.session.lane.xray import LaneXray

MICROSCOPE_RECORDS = ("microscope", ACCESSES, COUNTS)
"""Records of the transcript that are the microscope's."""


class LensReplay:
    """Gives each record to its lens."""

    def __init__(self, xray: LaneXray, microscope: LaneMicroscope) -> None:
        self._xray, self._microscope = xray, microscope
        self._records = self._bytes = 0

    def replay(self, record: bytes) -> None:
        """One record; those beyond the budget are left out, and that is reported once."""
        if self._exceeded():
            return
        self._records += 1
        self._bytes += len(record)
        if self._exceeded():
            self._xray.on_fault(
                f"The recording has more than {budgets.LENS_RECORDS:,} records of lenses, or more "
                f"than {budgets.LENS_BYTES >> 20} MiB of them; later ones are left out.",
                "Record it again, with fewer samples a second.",
            )
            return
        try:
            found = unpack_record(record)
        except InputError as error:
            self._xray.on_fault(error.sentence, error.remedy)
            return
        name = found.lens if isinstance(found, LensState) else found.probe
        (self._microscope if name in MICROSCOPE_RECORDS else self._xray).replay(found)

    def _exceeded(self) -> bool:
        return self._records > budgets.LENS_RECORDS or self._bytes > budgets.LENS_BYTES
