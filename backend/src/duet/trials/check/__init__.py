# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a kernel makes mistakes: it runs under stress with its own checks on.

`table` says what fits the files that a patch touches, `program` makes the guest's first program
of that, `machine` boots it, `console` reads what the kernel said, `report` writes it down. The
stress of all lessons' arms (tests/debug) uses the same parts.
"""
