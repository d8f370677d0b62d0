# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, `./duet VERB`.

`app.py` has the table of verbs. A verb is one file, or a folder where it does much: its options,
its work, and the model of what it prints with `--json`. Functions import what takes long to import
(numpy, pydantic, all of `duet` but `base`), so that help appears at once.
"""

from duet.cli.entry import main

__all__ = ["main"]
