# SPDX-License-Identifier: GPL-2.0-or-later
"""Read and check the files that authors of lessons write.

`schema` contains the models, and `load.py` reads a lesson's folder. `document.py` finds the line of
a fault, and a remedy. `view.py` builds the tree that the page gets. `words.py` finds names of
lessons in generic code, where they are forbidden.
"""
