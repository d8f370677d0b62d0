# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial: two kernels and a command, without a lesson.

From patches or source trees, a command and events, a trial writes the folder of a lesson
(`write.py`), with which every verb and the page work. The way: `mails` reads patches, `trees`
source trees, `duet.kernels.changed` says which functions a patch changes, `tracepoints` which
events a kernel has, `tracing` what is traced, `command` what the guest runs, `story` the steps.
"""
