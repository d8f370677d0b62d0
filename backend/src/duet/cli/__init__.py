# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, `./duet VERB`.

`app.py` has the table of verbs. A verb is one file (or a folder, where it does much): its options,
what it does, and the model of what it prints with `--json`. What takes long to import (numpy,
pydantic, all of `duet` but `base`) is imported in the functions that use it, so help comes at once.
"""

from duet.cli.entry import main

__all__ = ["main"]
