# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP: the app, its routes, who may call them, and pages for readers without scripts."""
