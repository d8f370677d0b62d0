# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons as authors write them, checked: `schema` has the models, `load.py` reads a lesson's
folder.

`document.py` finds line and remedy of a fault. `view.py` makes what the page gets. `words.py` knows
which names generic code must not use.
"""
