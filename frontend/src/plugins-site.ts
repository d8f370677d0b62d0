// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The empty list of plug-ins, which replaces plugins-found.ts in an exported site. A site has no server, so it has no
 * plug-ins.
 */

export const found: Readonly<Record<string, unknown>> = {};
