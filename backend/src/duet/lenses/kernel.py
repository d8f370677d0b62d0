# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's types and addresses as probes ask for them; what is missing becomes a sentence."""

from __future__ import annotations

from collections.abc import Callable

import drgn

from duet.errors import InfraError


class LensError(InfraError):
    """The lens cannot see: no DWARF, no such field, nothing there to be read."""

    code = "lens"


class Kernel:
    """DWARF and symbols of the kernel that runs."""

    def __init__(self, program: drgn.Program) -> None:
        self._program = program

    @property
    def program(self) -> drgn.Program:
        """For drgn's own helpers."""
        return self._program

    def offset(self, kind: str, member: str) -> int:
        """Bytes from the start of `kind` to `member` (which may be `a.b`).

        Raises:
            LensError: this kernel has no such member.
        """
        try:
            return int(drgn.offsetof(self._program.type(kind), member))
        except (LookupError, TypeError) as error:
            raise _missing(f"{kind} has no field {member}", kind) from error

    def has(self, kind: str, member: str) -> bool:
        """Whether this kernel's structure has that member."""
        try:
            drgn.offsetof(self._program.type(kind), member)
        except (LookupError, TypeError):
            return False
        return True

    def size(self, kind: str) -> int:
        """sizeof(kind).

        Raises:
            LensError: this kernel has no such type.
        """
        return int(drgn.sizeof(self.type(kind)))

    def type(self, kind: str) -> drgn.Type:
        """The type.

        Raises:
            LensError: this kernel has no such type.
        """
        try:
            return self._program.type(kind)
        except LookupError as error:
            raise _missing(f"it has no {kind}", kind) from error

    def address(self, symbol: str) -> int:
        """Where a variable lies.

        Raises:
            LensError: this kernel has no such variable.
        """
        found = self.find(symbol)
        if found is None:
            raise _missing(f"it has no variable {symbol}", symbol)
        return found

    def find(self, symbol: str) -> int | None:
        """Where a variable lies, if there is one."""
        try:
            return int(self._program.symbol(symbol).address)
        except LookupError:
            return None

    def first(self, *places: Callable[[drgn.Program], drgn.Object]) -> int:
        """Address of the first of these variables, or parts of them, that this kernel has.

        Raises:
            LensError: it has none of them; the sentence names the last.
        """
        missing = "nothing was asked for"
        for place in places:
            try:
                address = place(self._program).address_
            except (LookupError, AttributeError) as error:
                missing = " ".join(str(error).split())
                continue
            if address is not None:
                return int(address)
            missing = "the variable has no address"
        raise _missing(missing.rstrip("."), "it")

    def symbol_at(self, address: int) -> str:
        """Name of the function at an address, or the address itself."""
        try:
            return str(self._program.symbol(address).name)
        except LookupError:
            return f"{address:#x}"


def _missing(what: str, name: str) -> LensError:
    return LensError(
        f"this kernel cannot be read as wanted: {what}.",
        remedy=f"Look {name} up in this arm's source; the probe knows kernel 6.1.",
    )
