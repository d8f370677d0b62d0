# SPDX-License-Identifier: GPL-2.0-or-later
"""Search a kernel for bugs: run it under stress with its own debug checks enabled.

`chosen` finds the stress that fits the files of a patch, and `machine` boots the kernel with it.
`console` reads what the kernel printed, and `report` writes the result. tests/debug uses the same
modules to run the arms of all lessons under stress.
"""
