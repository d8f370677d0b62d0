// SPDX-License-Identifier: GPL-2.0-or-later
/** messages.schema.json (the server's) -> messages.gen.ts. `npm run gen`; with --check it only compares. */

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generateMessages } from './messages-from-schema.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const target = here('../../src/protocol/messages.gen.ts');
const wanted = await generateMessages(
  readFileSync(here('../../src/protocol/messages.schema.json'), 'utf8'),
);
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== wanted) {
    console.error('messages.gen.ts is older than messages.schema.json: npm run gen');
    process.exit(1);
  }
} else {
  writeFileSync(target, wanted);
  console.log('wrote src/protocol/messages.gen.ts');
}
