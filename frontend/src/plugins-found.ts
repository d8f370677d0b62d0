// SPDX-License-Identifier: GPL-2.0-or-later
/** The plug-ins that have a folder here. An exported site has plugins-site.ts in its place (vite.site.config.ts). */

export const found = import.meta.glob('./plugins/*/index.tsx', { eager: true });
