// SPDX-License-Identifier: GPL-2.0-or-later
/** Writes the page's types and checks from contract.schema.json; with --check it only compares. `make contract` */

import { readFileSync, writeFileSync } from 'node:fs';
import { checksText } from './contract-checks.ts';
import type { Contract } from './contract-schema.ts';
import { typesText } from './contract-types.ts';

const at = (name: string) => new URL(`../src/protocol/${name}`, import.meta.url);
const contract = JSON.parse(readFileSync(at('contract.schema.json'), 'utf8')) as Contract;
const texts = {
  'contract.gen.ts': await typesText(contract),
  'contract.checks.gen.ts': checksText(contract),
};

for (const [name, text] of Object.entries(texts)) {
  if (!process.argv.includes('--check')) writeFileSync(at(name), text);
  else if (readFileSync(at(name), 'utf8') !== text) {
    console.error(
      `error: src/protocol/${name} is not what the schema says.\nremedy: Run make contract and commit what it writes.`,
    );
    process.exitCode = 2;
  }
}
