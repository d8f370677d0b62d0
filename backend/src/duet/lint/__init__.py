# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with a lesson: one file of rules a topic. Boots nothing.

A rule takes a Subject and yields what it found; `lessons.py` runs them all and gives each finding
its file and line.
"""
