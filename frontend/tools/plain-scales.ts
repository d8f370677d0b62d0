// SPDX-License-Identifier: GPL-2.0-or-later
/** Scales of numbers need no interpolation of colours and texts: src/views/interpolate.ts is what they get. */

import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

export function plainScales(): Plugin {
  const plain = fileURLToPath(new URL('../src/views/interpolate.ts', import.meta.url));
  return {
    name: 'plain-scales',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^d3-interpolate$/ },
      handler: (_, importer) => (importer?.includes('/d3-scale/') ? plain : null),
    },
  };
}
