# SPDX-License-Identifier: GPL-2.0-or-later
"""Start lanes fast: park a guest once, immediately before its workload, and copy it per run.

The parked guest's memory is a sealed memfd, which every copy maps privately (copy on write). The
rest of the machine is a QEMU migration stream, which each copy reads. See docs/CLONES.md.
"""

from duet.guests.clones.copy import prepare_copy
from duet.guests.clones.guest import CloneableGuest
from duet.guests.clones.ready import TemplateCounts
from duet.guests.clones.store import Templates
from duet.guests.clones.template import Template

__all__ = ["CloneableGuest", "Template", "TemplateCounts", "Templates", "prepare_copy"]
