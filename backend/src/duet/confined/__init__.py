# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes that parse what guests and files contain, and that can do nothing else.

    server --(one request at a time)--> child      `Child`, one per lane or file
      \\--(descriptors of a new child)--> zygote --fork--> child

The zygote imports everything once and forks on request, so a child starts in some 10 ms. A child
has limits (duet.budgets) and no rights (duet.sandbox). Requests are pickled: the server is
trusted. Replies are maps of msgpack and blobs of stated sizes; they are checked, never unpickled.
"""

from duet.confined.child import Child
from duet.confined.replies import Reply
from duet.confined.terms import Terms
from duet.confined.zygotes import start

__all__ = ["Child", "Reply", "Terms", "start"]
