# SPDX-License-Identifier: GPL-2.0-or-later
"""Revisions of the tables of this plug-in."""
