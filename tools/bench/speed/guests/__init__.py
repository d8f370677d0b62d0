# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons for the guests of the benchmark, and programs that run in them."""
