// SPDX-License-Identifier: GPL-2.0-or-later
/** Build and test set-up of the page. `npm run dev` expects a server on DUET_PORT (default 8642). */

import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { earlyFiles } from './tools/early-files.ts';
import { lateFonts } from './tools/late-fonts.ts';
import { lessonViews } from './tools/lesson-views.ts';
import { groupOf } from './tools/page-groups.ts';
import { plainScales } from './tools/plain-scales.ts';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const port = process.env['DUET_PORT'] ?? '8642';

export default defineConfig({
  base: './',
  plugins: [
    react(),
    lessonViews(),
    plainScales(),
    lateFonts(),
    earlyFiles({ first: source('src/early-start.ts'), pages: source('src/app.tsx') }),
  ],
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    // The notices that the licences of the bundled packages ask for.
    license: { fileName: 'licenses.md' },
    target: 'es2023',
    sourcemap: false,
    // The page with all views, 160 KB compressed; packages are in chunks of their own.
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      output: {
        // Packages change less often than the page: a browser that was here before loads the page's part alone.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            // Loaded with the editor alone.
            {
              name: 'codemirror',
              test: /node_modules\/(@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt|diff)\//,
              priority: 2,
            },
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 2 },
            // What every page loads is few files, so that the first picture waits for few requests.
            {
              debugName: 'page',
              name: groupOf({
                early: source('src/early-start.ts'),
                base: source('src/main.tsx'),
                app: source('src/app.tsx'),
              }),
            },
          ],
        },
      },
    },
  },
  server: {
    strictPort: false,
    proxy: {
      '/api': `http://127.0.0.1:${port}`,
      '/ws': { target: `ws://127.0.0.1:${port}`, ws: true },
    },
  },
  test: {
    include: ['src', 'test', 'tools', '../lessons/*/view'].map(
      (folder) => `${folder}/**/*.test.{ts,tsx}`,
    ),
    environment: 'node',
    setupFiles: ['test/setup.ts'],
    restoreMocks: true,
    // Files share their worker's modules: three quarters of the time went into loading them anew for each file.
    isolate: false,
    // Vitest leaves one CPU to its main process, which has little to do: of two, one stood idle.
    maxWorkers: '100%',
    // Guards against hanging, not against a busy host.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
});
