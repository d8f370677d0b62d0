// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * In an exported site (vite.site.config.ts), this module replaces the pages that need a server. Nothing opens them
 * there.
 */

export {};
