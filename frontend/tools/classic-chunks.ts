// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Chunks as classic scripts, because browsers load no modules from file://. The build writes CommonJS chunks, and this
 * plug-in wraps each chunk in a function, which the chunk's script puts into a list. The entry's script also contains
 * the loader, which reads this list.
 *
 * The build writes `import()` as `Promise.resolve().then(() => require(name))`. The loader's `require` returns a promise
 * if scripts are missing, so this code waits until they have been loaded. A static import never waits, because all its
 * scripts are loaded before the chunk runs.
 */

import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Facts about a chunk, from which the export of a site chooses files. */
export interface ChunkFacts {
  /** The entry and the modules loaded on demand in this chunk, relative to the repository. */
  readonly modules: readonly string[];
  /** File names of the chunks that are loaded before this chunk. */
  readonly imports: readonly string[];
  /** File names of the chunks that this chunk loads on demand. */
  readonly later: readonly string[];
  /** File names of the style sheets that are loaded before this chunk. */
  readonly styles: readonly string[];
  /** File names of workers that this chunk starts. */
  readonly workers: readonly string[];
}

export const manifestName = 'chunks.json';

type Define = (require: (name: string) => unknown, exports: object) => void;
type Scripts = { push(script: readonly [name: string, define: Define]): unknown };

type Needed = Pick<ChunkFacts, 'imports' | 'styles'>;

/**
 * Run the entry. The source text of this function is part of the entry's script, so it uses nothing from this file.
 *
 * @param needed what each chunk needs before it runs
 */
export function startLoader(entry: string, needed: Readonly<Record<string, Needed>>): void {
  const scope = globalThis as unknown as { duetScripts: readonly [string, Define][] | Scripts };
  const defined = new Map(scope.duetScripts as readonly [string, Define][]);
  scope.duetScripts = { push: ([name, define]) => defined.set(name, define) };
  const running = new Map<string, object>();
  const loads = new Map<string, Promise<void>>();
  // index.html has loaded the style sheets of these chunks.
  const styled = new Set([...defined.keys()].flatMap((name) => needed[name]?.styles ?? []));
  const load = (name: string) => {
    const loading =
      loads.get(name) ??
      new Promise<void>((resolve, reject) => {
        const isStyle = name.endsWith('.css');
        const element = isStyle
          ? Object.assign(document.createElement('link'), { rel: 'stylesheet', href: name })
          : Object.assign(document.createElement('script'), { src: name });
        element.onload = element.onerror = (event: Event | string) => {
          loads.delete(name);
          if (isStyle && typeof event !== 'string' && event.type === 'load') styled.add(name);
          if (defined.has(name) || styled.has(name)) resolve();
          else reject(new Error(`the file ${name} beside this page is missing`));
        };
        document.head.append(element);
      });
    loads.set(name, loading);
    return loading;
  };
  const withImports = (name: string, found = new Set<string>()) => {
    if (!found.has(name)) {
      found.add(name);
      for (const other of needed[name]?.imports ?? []) withImports(other, found);
    }
    return found;
  };
  const require = (path: string): unknown => {
    const name = path.replace('./', '');
    const ran = running.get(name);
    if (ran !== undefined) return ran;
    const wanted = [...withImports(name)];
    const missing = [
      ...wanted.filter((one) => !defined.has(one)),
      ...wanted.flatMap((one) => needed[one]?.styles ?? []).filter((one) => !styled.has(one)),
    ];
    if (missing.length > 0) return Promise.all(missing.map(load)).then(() => require(name));
    const exports = {};
    running.set(name, exports);
    defined.get(name)?.(require, exports);
    return exports;
  };
  require(entry);
}

/** Wrap all chunks, and write the facts about them to `manifestName`. */
export function classicChunks(): Plugin {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  return {
    name: 'classic-chunks',
    augmentChunkHash: (chunk) => (chunk.isEntry ? String(startLoader) : ''),
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const files = Object.values(bundle);
        const chunks = files.filter((file) => file.type === 'chunk');
        const workers = files
          .map((file) => file.fileName)
          .filter((name) => /worker.*\.js$/.test(name));
        const facts: Record<string, ChunkFacts> = {};
        for (const chunk of chunks) {
          const { fileName, moduleIds, imports, dynamicImports, code } = chunk;
          const starts = moduleIds.filter((id) => {
            const info = this.getModuleInfo(id);
            return info?.isEntry || info?.dynamicImporters.length;
          });
          facts[fileName] = {
            modules: starts.map((id) => relative(root, id)),
            imports,
            later: dynamicImports,
            styles: [...(chunk.viteMetadata?.importedCss ?? [])],
            workers: workers.filter((name) => code.includes(name)),
          };
        }
        const needed = Object.entries(facts).map(([name, { imports, styles }]) => {
          return [name, { imports, styles }] as const;
        });
        const loaded = JSON.stringify(Object.fromEntries(needed));
        for (const chunk of chunks) {
          const name = JSON.stringify(chunk.fileName);
          const script = `(globalThis.duetScripts??=[]).push([${name},function(require,exports){${chunk.code}\n}]);\n`;
          const start = `(${startLoader})(${name},${loaded});\n`;
          chunk.code = chunk.isEntry ? script + start : script;
        }
        this.emitFile({
          type: 'asset',
          fileName: manifestName,
          source: `${JSON.stringify(facts, null, 1)}\n`,
        });
      },
    },
  };
}
