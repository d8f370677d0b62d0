// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Which file of a catalogue has a text: that of the part of the page which alone says it, else `page`. What is loaded
 * on demand brings its words along (load.ts); a site without a server has those of the page and of its view.
 */

/** Name of the file -> where its sources are. */
const places: Readonly<Record<string, readonly string[]>> = {
  editor: ['editor/'],
  gallery: ['gallery/'],
  // What a site says in place of a comparison.
  page: ['compare/use-compare-view.ts'],
  report: ['report/'],
  scores: ['labs/scores-page.tsx'],
  server: [
    'classroom/',
    'compare/',
    'editor/door.tsx',
    'editor/entry.tsx',
    'home/',
    'labs/',
    'numbers/',
    'protocol/segments.ts',
    'protocol/socket.ts',
    'runs/',
  ],
  ...views('cache-lines', 'extent-strip', 'hog-rows', 'inode-flow', 'memcg-wall'),
};

/** A file each has what a lesson of one kind alone shows; a site has that of its lesson's view (export/site.py). */
function views(...kinds: readonly string[]) {
  return Object.fromEntries(kinds.map((kind) => [kind, [`views/${kind}/`]]));
}

/** The first file of the catalogue: what several parts say, and all others. */
export const page = 'page';

/** The part of the page that a source belongs to. */
export function partOf(file: string): string {
  const fits = Object.entries(places).flatMap(([part, starts]) =>
    starts.filter((start) => file.startsWith(start)).map((start) => ({ part, start })),
  );
  const [closest] = fits.toSorted((a, b) => b.start.length - a.start.length);
  return closest?.part ?? page;
}

/** The file of a text that these sources say. */
export function fileOf(sources: readonly string[]): string {
  const [first, ...others] = new Set(sources.map(partOf));
  return others.length > 0 ? page : (first ?? page);
}
