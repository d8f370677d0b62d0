# SPDX-License-Identifier: GPL-2.0-or-later
"""Search a kernel for bugs: run it under stress with its own debug checks enabled.

`chosen` finds the stress that fits the files of a patch, and `machine` boots the kernel with it.
`console` reads what the kernel printed, and `report` writes the result. The stress of all lessons'
arms (tests/debug) uses the same parts.
"""
