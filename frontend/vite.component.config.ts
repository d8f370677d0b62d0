// SPDX-License-Identifier: GPL-2.0-or-later
/** kernel-duet.js, the element <kernel-duet> for pages of others; `duet export --to site` copies it with the site. */

import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    outDir: 'dist/site',
    emptyOutDir: false,
    target: 'es2023',
    lib: {
      entry: 'src/component/main.ts',
      formats: ['iife'],
      name: 'kernelDuet',
      fileName: () => 'kernel-duet.js',
    },
  },
});
