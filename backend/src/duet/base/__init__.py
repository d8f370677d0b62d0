# SPDX-License-Identifier: GPL-2.0-or-later
"""What every other folder may use: errors, settings, limits, files, logs, roles."""
