// SPDX-License-Identifier: GPL-2.0-or-later
/** The plug-ins in src/plugins. An exported site uses plugins-site.ts instead (vite.site.config.ts). */

export const found = import.meta.glob('./plugins/*/index.tsx', { eager: true });
