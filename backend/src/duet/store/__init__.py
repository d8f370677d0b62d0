# SPDX-License-Identifier: GPL-2.0-or-later
"""One database for all plug-ins: classes, labs and what platforms are to get.

`store.py` is the thread that owns it; `database.py` opens it and says which of several servers owns
a class; the tables are in the plug-ins. Nothing here knows sockets or pages.
"""
