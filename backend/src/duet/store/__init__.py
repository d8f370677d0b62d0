# SPDX-License-Identifier: GPL-2.0-or-later
"""The database of all plug-ins: classes, labs and grades for learning platforms.

`store.py` contains the thread that owns the database. `database.py` opens the database, and finds
the server that owns a class. The plug-ins define the tables. This package does not depend on
sockets or pages.
"""
