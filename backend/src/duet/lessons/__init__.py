# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons as authors write them, checked: `schema` has the models, `load.py` reads a lesson's
folder.

`document.py` finds the line of a fault and its remedy. `view.py` builds the tree that the page
gets. `words.py` knows which names generic code must not use.
"""
