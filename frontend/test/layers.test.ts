// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The layer rule bites: base < protocol < store < derive < toys < views < playback < ui, svg and the parts of the page, where
 * navigation < runs < controls < panels < plug-ins < the pages, which name no plug-in. Checked on files in a scratch folder.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

const forbidden = [
  ['src/base/a.ts', '../store/store.ts'],
  ['src/protocol/a.ts', '../store/store.ts'],
  ['src/store/a.ts', '../derive/types.ts'],
  ['src/derive/a.ts', '../views/paints.ts'],
  ['src/derive/b.ts', 'react'],
  ['src/views/a.ts', '../page/story.tsx'],
  ['src/views/kind/a.ts', '../../ui/theme.ts'],
  ['src/views/b.ts', '../svg/pen.ts'],
  ['src/views/d.ts', '../playback/hooks.tsx'],
  ['src/views/e.ts', '../store/hooks.tsx'],
  ['lessons/07-x/view/a.ts', '@page/ui/theme.ts'],
  ['lessons/07-x/view/b.ts', '@page/playback/hooks.tsx'],
  ['src/derive/d.ts', '../playback/machine.ts'],
  ['src/toys/a.ts', '../views/registry.ts'],
  ['src/derive/e.ts', '../toys/types.ts'],
  ['src/playback/a.ts', '../page/place.ts'],
  ['src/navigation/a.ts', '../runs/knobs.ts'],
  ['src/runs/a.ts', '../controls/keyboard.ts'],
  ['src/controls/a.ts', '../panels/legend.tsx'],
  ['src/panels/a.ts', '../page/stage.tsx'],
  ['src/share/a.ts', '../page/stage.tsx'],
  ['src/panels/b.ts', '../plugins.tsx'],
  ['src/panels/d.ts', '../plugins/x/index.tsx'],
  ['src/page/b.ts', '../plugins/x/index.tsx'],
  ['src/home/b.ts', '../plugins/x/index.tsx'],
  ['src/compare/b.ts', '../plugins/x/index.tsx'],
  ['src/a.ts', './plugins/x/index.tsx'],
  ['src/plugins/x/a.ts', '../../page/stage.tsx'],
  ['src/page/a.ts', '../compare/compare-view.tsx'],
  ['src/home/a.ts', '../page/stage.tsx'],
  ['src/numbers/a.ts', '../home/home.tsx'],
  ['src/compare/a.ts', '../numbers/numbers.tsx'],
] as const;

const allowed = [
  ['src/derive/c.ts', '../store/store.ts'],
  ['src/views/kind/c.ts', '../../derive/types.ts'],
  ['src/views/kind/d.ts', '../../toys/types.ts'],
  ['lessons/07-x/view/c.ts', '@page/views/axis.ts'],
  ['src/playback/c.ts', '../views/registry.ts'],
  ['src/navigation/c.ts', '../playback/hooks.tsx'],
  ['src/compare/c.ts', '../page/stage.tsx'],
  ['src/panels/c.ts', '../controls/keyboard.ts'],
  ['src/page/c.ts', '../plugins.tsx'],
  ['src/plugins/x/c.ts', '../../panels/prose.tsx'],
] as const;

/** The files of a folder whose imports the lint refuses, by their names in it. */
function refusedIn(folder: string): string[] {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const arguments_ = [biome, 'lint', '--max-diagnostics=none', '--colors=off', '.'];
  const run = spawnSync(process.execPath, arguments_, { cwd: folder, encoding: 'utf8' });
  const said = run.stdout + run.stderr;
  return [...said.matchAll(/^(\S+\.ts):\d+:\d+ lint\/style\/noRestrictedImports/gm)].map(
    ([, name = '']) => name,
  );
}

test('an import of a higher layer fails the lint, one of a lower layer does not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'));
  try {
    for (const [path, from] of [...forbidden, ...allowed]) {
      const file = join(folder, path.startsWith('src/') ? 'frontend' : '', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `export { x } from '${from}';\n`);
    }
    for (const name of ['frontend/biome.json', 'lessons/biome.json'])
      copyFileSync(join(root, '..', name), join(folder, name));
    const refused = [
      ...refusedIn(join(folder, 'frontend')),
      ...refusedIn(join(folder, 'lessons')).map((name) => `lessons/${name}`),
    ];
    expect(refused.toSorted()).toEqual(forbidden.map(([path]) => path).toSorted());
  } finally {
    rmSync(folder, { recursive: true });
  }
});
