// SPDX-License-Identifier: GPL-2.0-or-later
/** Replaces pages that need a server in an exported site (vite.site.config.ts). Nothing opens them there. */

export {};
