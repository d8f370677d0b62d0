# SPDX-License-Identifier: GPL-2.0-or-later
"""Search a kernel for bugs: run it under stress with the kernel's own debug checks enabled.

`chosen` selects stress that exercises the files of a patch, and `machine` boots a kernel under this
stress. `console` parses what the kernel printed, and `report` formats the result. tests/debug uses
the same modules to run the arms of all lessons under stress.
"""
