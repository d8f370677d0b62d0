# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, `./duet VERB`.

`app.py` has the table of verbs. Each verb is a file, or a folder if the verb has much code. The
file defines the verb's options, what the verb does, and the model of its `--json` output. Slow
imports (numpy, pydantic, all of `duet` except `base`) are inside functions, so that help appears
without delay.
"""

from duet.cli.entry import main

__all__ = ["main"]
