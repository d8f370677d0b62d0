// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What a server sent, against the page's checks; for tests. In: a JSON list of { read, body }, body in base64,
 * msgpack where it came from the socket. Out: a JSON list of sentences, one for each that does not pass.
 */

import { readFileSync } from 'node:fs';
import { decode } from '@msgpack/msgpack';
import { check, type Read } from '../src/protocol/check.ts';
import * as readers from '../src/protocol/contract.checks.gen.ts';

interface Answer {
  /** Name of the reader. */
  readonly read: string;
  readonly body: string;
}

/** Keys that came and that the contract does not know. */
function unknownKeys(came: unknown, known: unknown, place = ''): string[] {
  if (typeof came !== 'object' || came === null || came instanceof Uint8Array) return [];
  return Object.entries(came).flatMap(([key, value]) => {
    const here = `${place}.${key}`;
    if (!(key in (known as object))) return [here];
    return unknownKeys(value, (known as Record<string, unknown>)[key], here);
  });
}

const named = new Map<string, unknown>(Object.entries(readers));
const answers = JSON.parse(readFileSync(0, 'utf8')) as Answer[];
const wrong = answers.flatMap(({ read, body }) => {
  const bytes = Buffer.from(body, 'base64');
  const tree: unknown =
    read === 'readServerMessage' ? decode(bytes) : JSON.parse(bytes.toString('utf8'));
  const checked = check(named.get(read) as Read<unknown>, tree);
  if (!checked.ok) return [`${read} ${checked.place}: ${checked.complaint}`];
  return unknownKeys(tree, checked.value).map((key) => `${read} ${key}: not in the contract`);
});
console.log(JSON.stringify(wrong));
