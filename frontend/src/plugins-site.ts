// SPDX-License-Identifier: GPL-2.0-or-later
/** Replaces plugins-found.ts in an exported site, which has no server and so no plug-ins. */

export const found: Readonly<Record<string, unknown>> = {};
