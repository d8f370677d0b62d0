// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Writes the page's types and checks from contract.schema.json, and the catalogue of views from their code; with
 * --check it only compares, with --no-views it leaves the catalogue alone. `make contract`
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { checksText } from './contract-checks.ts';
import type { Contract } from './contract-schema.ts';
import { typesText } from './contract-types.ts';

const at = (name: string) => new URL(`../src/protocol/${name}`, import.meta.url);
const contract = JSON.parse(readFileSync(at('contract.schema.json'), 'utf8')) as Contract;
const texts: Record<string, string> = {
  'contract.gen.ts': await typesText(contract),
  'contract.checks.gen.ts': checksText(contract),
};
if (!process.argv.includes('--no-views')) {
  const { viewsText } = await import('./views.ts'); // it starts Vite, which takes seconds
  texts['../../../backend/src/duet/lessons/views.gen.json'] = await viewsText();
}

for (const [name, text] of Object.entries(texts)) {
  const path = at(name);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(
      `error: ${basename(path.pathname)} is not what ${source(name)} says.\nremedy: Run make contract and commit what it writes.`,
    );
    process.exitCode = 2;
  }
}

function source(name: string): string {
  return name.endsWith('.json') ? "the views' code" : 'the schema';
}
