# SPDX-License-Identifier: GPL-2.0-or-later
"""Capacity planning. Contains constants with their sources, a model, and a viewer simulation.

`constants.py` has the shipped figures, and those that `make bench` has measured on this
installation. `model.py` computes a plan from these figures and the demand, and names the scarcest
resource. It is pure. `simulation.py` simulates many viewers who fetch one recording over one link.
"""
