# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a change of an arm does what a lesson's challenge asks for.

`plans` says what has to be measured, `order` counts the barriers that a change takes away,
`judge` decides from the tables and from the console of a debug kernel, `report` writes it down.
"""
