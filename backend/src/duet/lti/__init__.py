# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI 1.3 Advantage: a learning platform lets its users in, and receives their scores.

Messages are validated and services called by pylti1p3next (messages.py and
grades.py adapt it); nonces, time limits and what is stored are ours.
Source: https://www.imsglobal.org/spec/lti/v1p3 and https://www.imsglobal.org/spec/lti-ags/v2p0
"""
