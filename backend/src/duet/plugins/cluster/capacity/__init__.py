# SPDX-License-Identifier: GPL-2.0-or-later
"""Capacity planning, with constants and their sources, a model, and a simulation of viewers.

`constants.py` has the shipped figures, and the figures that `make bench` has measured on this
installation. `model.py` computes a plan from these figures and the demand, and names the scarcest
resource. The model is pure. `simulation.py` simulates many viewers who fetch one recording over one
link.
"""
