// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page that `duet export --to site` copies: one classic script, since browsers load no modules from
 * file://, and Latin letters alone, since a folder counts with all of its fonts.
 */

import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { lessonViews } from './tools/lesson-views.ts';
import { sharedOnce } from './tools/licenses.ts';

/** Leaves out the faces of other scripts; the browser's own fonts stand in for them. */
function latinOnly(): Plugin {
  return {
    name: 'latin-only',
    enforce: 'pre',
    transform: {
      filter: { id: /@fontsource-variable\/[^?]*\.css$/ },
      handler: (css) =>
        css.replaceAll(/@font-face\s*\{[^}]*\}/g, (face) =>
          /-latin-(?!ext)/.test(face) ? face : '',
        ),
    },
  };
}

/** A folder counts with its notices. */
function licencesOnce(): Plugin {
  return {
    name: 'licences-once',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const notices = bundle['licenses.md'];
        if (notices?.type === 'asset') notices.source = sharedOnce(String(notices.source));
      },
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [react(), lessonViews(), latinOnly(), licencesOnce()],
  publicDir: false,
  resolve: {
    // Without optical sizes a serif face has 50 KB in place of 130.
    alias: [
      // Plug-ins are what a server adds.
      {
        find: /^.*\/plugins-found\.ts$/,
        replacement: fileURLToPath(new URL('src/plugins-site.ts', import.meta.url)),
      },
      {
        find: /^.*\/catalogues\.ts$/,
        replacement: fileURLToPath(new URL('src/lang/catalogues-site.ts', import.meta.url)),
      },
      {
        find: /^(@fontsource-variable\/source-serif-4)\/opsz(-italic)?\.css$/,
        replacement: '$1/wght$2.css',
      },
    ],
  },
  // Workers start where the page came from a web server; from file:// their work is done on the page's thread.
  define: { 'import.meta.url': 'document.baseURI' },
  worker: { format: 'iife', rolldownOptions: { output: { entryFileNames: '[name].js' } } },
  build: {
    outDir: 'dist/site',
    // The notices that the licences of the bundled packages ask for.
    license: { fileName: 'licenses.md' },
    target: 'es2023',
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    assetsDir: '',
    modulePreload: false,
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      checks: { emptyImportMeta: false },
      input: 'src/main.tsx',
      output: {
        format: 'iife',
        codeSplitting: false,
        entryFileNames: 'page.js',
        assetFileNames: (asset) =>
          asset.names.some((name) => name.endsWith('.css')) ? 'page.css' : '[name][extname]',
      },
    },
  },
});
