# SPDX-License-Identifier: GPL-2.0-or-later
"""Lint of lessons, with one file of rules per topic. Boots nothing.

A rule takes a Subject and yields findings. `lessons.py` runs all rules and adds the file and line
to each finding.
"""
