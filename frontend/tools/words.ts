// SPDX-License-Identifier: GPL-2.0-or-later
/** The texts that the page says through its catalogues, as its sources have them: the keys of these. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

export interface Source {
  /** Within src, or within the repository for the picture of a lesson. */
  readonly name: string;
  readonly path: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = join(root, 'frontend/src');

/** Folders of the lessons' own pictures, within the repository. */
function lessonFolders(): string[] {
  return readdirSync(join(root, 'lessons'))
    .sort()
    .map((slug) => `lessons/${slug}/view`)
    .filter((folder) => existsSync(join(root, folder)));
}

/** Where a source or a catalogue lies, by its name. */
export function pathOf(name: string): string {
  return join(name.startsWith('lessons/') ? root : page, name);
}

/** Files of a catalogue: name -> path. That of a folder with words of its own is called like it. */
export function catalogueFiles(tag: string): Record<string, string> {
  const own = readdirSync(pathOf(`lang/${tag}`)).filter((name) => name.endsWith('.json'));
  const brought = allFiles()
    .filter((name) => name.endsWith(`/lang/${tag}.json`))
    .map((name) => name.replace(`/lang/${tag}.json`, ''));
  return Object.fromEntries([
    ...own.map((name) => [name.replace(/\.json$/, ''), pathOf(`lang/${tag}/${name}`)] as const),
    ...brought.map((folder) => [folder, pathOf(`${folder}/lang/${tag}.json`)] as const),
  ]);
}

/** All texts of the page's sources, each once for each place that says it, in the order of files. */
export function allWords(): Said[] {
  return allSources().flatMap(({ name, path }) => wordsIn(readFileSync(path, 'utf8'), name));
}

/** Text -> the sources that say it. */
export function sourcesOf(said: readonly Said[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { text, at } of said)
    found.set(text, [...(found.get(text) ?? []), at.replace(/:\d+$/, '')]);
  return found;
}

/** The sources of the page and of the lessons' pictures. */
export function allSources(): Source[] {
  return allFiles()
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|^base\/lang\/|\/fixtures\//.test(name))
    .map((name) => ({ name, path: pathOf(name) }));
}

function allFiles(): string[] {
  return ['', ...lessonFolders()].flatMap((folder) =>
    readdirSync(pathOf(folder), { recursive: true, encoding: 'utf8' })
      .sort()
      .map((file) => join(folder, file)),
  );
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

const spoken = new Set(['alt', 'aria-label', 'label', 'placeholder', 'title', 'words']);
const letters = /\p{L}{2}/u;

/** Words of the markup that do not go through the catalogues, with their places. */
export function unsaidIn(source: string, file: string): string[] {
  if (!file.endsWith('x')) return [];
  const tree = parseAst(source, { lang: 'tsx' }) as unknown as Node;
  return nodesOf(tree).flatMap((node) => {
    const own = node.type === 'JSXText' ? node['value'] : attributeOf(node);
    if (typeof own !== 'string' || !letters.test(own)) return [];
    return [`${file}:${source.slice(0, node.start).split('\n').length} ${own.trim()}`];
  });
}

function attributeOf(node: Node): unknown {
  if (node.type !== 'JSXAttribute') return null;
  const [name, value] = [node['name'] as Node, node['value'] as Node | null];
  return spoken.has(String(name['name'])) && value?.type === 'Literal' ? value['value'] : null;
}

function nodesOf(node: Node): Node[] {
  return [node, ...below(node).flatMap(nodesOf)];
}

function below(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).filter(isNode),
  );
}

function keysOf(values: Node | undefined): string[] {
  const given = (values?.['properties'] ?? []) as readonly Node[];
  return given.flatMap((one) =>
    one.type === 'SpreadElement'
      ? keysOf(one['argument'] as Node)
      : [(one['key'] as { name: string }).name],
  );
}

function calls(node: Node): Node[] {
  const callee = node['callee'] as Node | undefined;
  const own = node.type === 'CallExpression' && functions.has(String(callee?.['name']));
  const inner = below(node).flatMap(calls);
  return own ? [node, ...inner] : inner;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
