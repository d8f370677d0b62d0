// SPDX-License-Identifier: GPL-2.0-or-later
/** The script that `duet export --to svg` runs in an open page; it lies beside the page, and no page loads it. */

import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    outDir: 'dist/svg',
    target: 'es2023',
    lib: { entry: 'src/svg/main.ts', formats: ['iife'], name: 'duetSvg', fileName: () => 'svg.js' },
  },
});
