# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench speed`: every stage of the product beside its best peer, on the same work, in turns.

`pairs.py` measures: it first checks that both sides give the same result, then runs them A B A B,
and reports the median of the pairs' ratios. A module with a `STAGE` is a stage, which yields rows.
Stages are found by a search of this package, so such a module can be deleted without other changes.
`capture.py` makes the one capture that stages share.
"""
