# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench speed`: every stage of the product beside its best peer, on the same work, in turns.

`pairs.py` is the instrument: it runs two sides A B A B, checks first that both give the same
result, and reports the median of the pairs' ratios. Each other module except `report.py` and
`capture.py` is a stage: its `STAGE` names it and yields rows. A stage is found by looking, and a
deleted module takes nothing else with it. `capture.py` makes the one capture that stages share.
"""
