# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that all other packages can import: errors, settings, limits, files, logs and roles."""
