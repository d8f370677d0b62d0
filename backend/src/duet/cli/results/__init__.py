# SPDX-License-Identifier: GPL-2.0-or-later
"""What verbs print with `--json`: one model each, from which their help is generated.

No pydantic here: the help of every verb imports this, and must come at once.
"""
