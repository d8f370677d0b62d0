# SPDX-License-Identifier: GPL-2.0-or-later
"""What is stored of classes: who taught what, members' nicknames, questions and raw answers.

Nothing here knows sockets or pages; `duet.server.classroom` is the class that goes on. Scores are
never stored, they are counted from the answers (records.py).
"""
