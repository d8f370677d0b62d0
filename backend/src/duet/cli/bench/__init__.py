# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bench`: how soon lanes move, and what many viewers or a class cost the server."""
