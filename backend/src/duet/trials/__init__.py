# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial: two or more kernels and a command that `duet try` compares, without a lesson.

`write` turns a trial into a lesson folder, which every verb and the page can open. `mails` reads
patches, `trees` reads source trees, and `duet.kernels.changed` finds the functions that a patch
changes. `tracing` chooses events and functions to trace. `command` parses the guest's command.
"""
