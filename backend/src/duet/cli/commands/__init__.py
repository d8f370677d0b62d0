# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs and their options. Each body is elsewhere and is imported only when it is called."""
