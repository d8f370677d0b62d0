// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Pictures of lessons lie outside this folder, in lessons/NN-slug/view. There `@page/` is this folder's src, `@test/` its
 * test, and packages are those of this folder: a lesson needs no node_modules. tsconfig.json says the same.
 */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export function lessonViews(): Plugin {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(here('../package.json'), 'utf8'),
  );
  return {
    name: 'lesson-views',
    config: () => ({
      resolve: {
        alias: [
          { find: /^@page\//, replacement: here('../src/') },
          { find: /^@test\//, replacement: here('../test/') },
        ],
        // Looked for from this folder, whoever imports them.
        dedupe: Object.keys({ ...dependencies, ...devDependencies }),
      },
      server: { fs: { allow: [here('..'), here('../../lessons')] } },
    }),
  };
}
