// SPDX-License-Identifier: GPL-2.0-or-later
/** The texts that the page says through its catalogues, as its sources have them: the keys of src/lang/*.json. */

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

export interface Said {
  readonly text: string;
  /** File and line, for who translates it. */
  readonly at: string;
  /** What it is given for its braces. */
  readonly values: readonly string[];
  /** It has elements inside. */
  readonly rich: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

const functions = new Set(['t', 'tr', 'rich']);

/** All texts of the sources below a folder, each once, in the order of files. */
export function wordsOf(folder: string): Said[] {
  const found = new Map<string, Said>();
  for (const file of sources(folder))
    for (const said of wordsIn(readFileSync(file, 'utf8'), relative(folder, file)))
      if (!found.has(said.text)) found.set(said.text, said);
  return [...found.values()];
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|^base\/lang\//.test(file))
    .sort()
    .map((file) => join(folder, file));
}

/** Throws where a text is put together before it is said: no catalogue could have it. */
export function wordsIn(source: string, file: string): Said[] {
  if (!/\b(tr?|rich)\(/.test(source)) return [];
  const found: Said[] = [];
  const tree = parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' });
  for (const call of calls(tree as unknown as Node)) {
    const at = `${file}:${source.slice(0, call.start).split('\n').length}`;
    const [text, values] = call['arguments'] as readonly Node[];
    if (text?.type !== 'Literal' || typeof text['value'] !== 'string')
      throw new Error(`${at}: t() and rich() take a text as it stands, not one put together`);
    const rich = (call['callee'] as unknown as { name: string }).name === 'rich';
    found.push({ text: text['value'], at, values: keysOf(values), rich });
  }
  return found;
}

function keysOf(values: Node | undefined): string[] {
  const given = (values?.['properties'] ?? []) as readonly { key: { name: string } }[];
  return given.map(({ key }) => key.name);
}

function calls(node: Node): Node[] {
  const callee = node['callee'] as Node | undefined;
  const own = node.type === 'CallExpression' && functions.has(String(callee?.['name']));
  const below = Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).flatMap(calls),
  );
  return own ? [node, ...below] : below;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
