# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, `./duet VERB`.

`app.py` has the table of verbs. Each verb is one file, or a folder if the verb does much. It has
the verb's options, its work, and the model of its `--json` output. Slow imports (numpy, pydantic,
all of `duet` but `base`) are inside functions, so that help appears at once.
"""

from duet.cli.entry import main

__all__ = ["main"]
