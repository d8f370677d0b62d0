# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a class needs: constants, where each comes from, a model, and a simulation of viewers.

`constants.py` has the figures that are shipped, `measured.py` those that `duet bench` has measured
on this installation, `model.py` computes a plan from them and a `demand.py`, `loads.py` what
students ask of servers, `bottleneck.py` says what is short first, `simulation.py` has many viewers
of one recording at one link. All but `measured.py` are pure.
"""
