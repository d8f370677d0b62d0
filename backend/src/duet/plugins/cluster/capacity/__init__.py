# SPDX-License-Identifier: GPL-2.0-or-later
"""Capacity planning: constants with their sources, a model, and a simulation of viewers.

`constants.py` has the shipped figures, and those that `make bench` has measured on this
installation. `model.py` computes a plan from them and the demand, and names the scarcest resource;
it
is pure. `simulation.py` simulates many viewers of one recording at one link.
"""
