# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a class needs: constants, where each comes from, a model, and a simulation of viewers.

`constants.py` has the figures that are shipped, and those that `make bench` has measured on this
installation. `model.py` computes a plan from them and from what is asked for, and says what is
short first; it is pure. `simulation.py` has many viewers of one recording at one link.
"""
