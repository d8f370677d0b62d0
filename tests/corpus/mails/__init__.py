# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails and patches of every kind, each with what is to be read of it."""
