# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that every other package may import: errors, settings, limits, files, logs, roles."""
