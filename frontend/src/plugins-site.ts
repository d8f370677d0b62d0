// SPDX-License-Identifier: GPL-2.0-or-later
/** In the place of plugins-found.ts in an exported site: plug-ins are what a server adds. */

export const found: Readonly<Record<string, unknown>> = {};
