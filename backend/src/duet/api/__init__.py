# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTTP app, its routes, their access rights, and pages for browsers without JavaScript."""
