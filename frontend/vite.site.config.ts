// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page that `duet export --to site` copies: classic scripts, since browsers load no modules from file://, and Latin
 * letters alone, since a folder counts with all of its fonts. Names contain a hash of the content, so hosts and browsers
 * may keep these files.
 */

import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { classicChunks } from './tools/classic-chunks.ts';
import { lateFonts } from './tools/late-fonts.ts';
import { lessonViews } from './tools/lesson-views.ts';
import { sharedOnce } from './tools/licenses.ts';
import { groupOf } from './tools/page-groups.ts';
import { plainScales } from './tools/plain-scales.ts';

const hashed = '[name]-[hash:10].js';
const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

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
  plugins: [
    react(),
    lessonViews(),
    latinOnly(),
    lateFonts(),
    plainScales(),
    licencesOnce(),
    classicChunks(),
  ],
  publicDir: false,
  resolve: {
    // Without optical sizes a serif face has 50 KB in place of 130.
    alias: [
      // Plug-ins are what a server adds.
      {
        find: /^.*\/plugins-found\.ts$/,
        replacement: source('src/plugins-site.ts'),
      },
      // Pages that need a server.
      {
        find: /^.*\/(home\/home|numbers\/numbers|gallery\/gallery)\.tsx$/,
        replacement: source('src/no-page.ts'),
      },
      {
        find: /^.*\/segments\.ts$/,
        replacement: source('src/protocol/segments-site.ts'),
      },
      {
        find: /^.*\/contract\.checks\.gen\.ts$/,
        replacement: source('src/protocol/checks-site.ts'),
      },
      {
        find: /^.*\/catalogues\.ts$/,
        replacement: source('src/lang/catalogues-site.ts'),
      },
      {
        find: /^(@fontsource-variable\/source-serif-4)\/opsz(-italic)?\.css$/,
        replacement: '$1/wght$2.css',
      },
    ],
  },
  // Workers start where the page came from a web server; from file:// their work is done on the page's thread.
  define: { 'import.meta.url': 'document.baseURI' },
  worker: {
    format: 'iife',
    rolldownOptions: { output: { entryFileNames: hashed, hashCharacters: 'hex' } },
  },
  build: {
    outDir: 'dist/site',
    // The notices that the licences of the bundled packages ask for.
    license: { fileName: 'licenses.md' },
    target: 'es2023',
    assetsInlineLimit: 0,
    assetsDir: '',
    modulePreload: false,
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      checks: { emptyImportMeta: false },
      input: 'src/main.tsx',
      output: {
        format: 'cjs',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              debugName: 'page',
              name: groupOf({ base: source('src/main.tsx'), app: source('src/app.tsx') }),
            },
          ],
        },
        // As the export names its own parts.
        hashCharacters: 'hex',
        entryFileNames: hashed,
        chunkFileNames: hashed,
        assetFileNames: '[name]-[hash:10][extname]',
      },
    },
  },
});
