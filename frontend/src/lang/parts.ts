// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Which files of a catalogue have a text. The page's own files lie in src/lang/TAG: one has what a part of the page alone
 * says, `page` has all else. A lesson's picture brings a file of its own, with all that it says and `page` has not. What
 * is loaded on demand brings its words along (load.ts); a site without a server has those of the page and of its view.
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
};

/** The folder of a lesson's picture; its file is called like it. */
const ofLesson = /^lessons\/[^/]+\/view(?=\/)/;

/** The first file of the catalogue: what several parts say, and all others. */
export const page = 'page';

/** The part of the page, or the folder of a lesson's picture, that a source belongs to. */
export function partOf(file: string): string {
  const [folder] = ofLesson.exec(file) ?? [];
  if (folder !== undefined) return folder;
  const fits = Object.entries(places).flatMap(([part, starts]) =>
    starts.filter((start) => file.startsWith(start)).map((start) => ({ part, start })),
  );
  const [closest] = fits.toSorted((a, b) => b.start.length - a.start.length);
  return closest?.part ?? page;
}

/** The files of a text that these sources say. */
export function filesOf(sources: readonly string[]): readonly string[] {
  const parts = [...new Set(sources.map(partOf))];
  const lessons = parts.filter((part) => ofLesson.test(`${part}/`));
  const [first, ...others] = parts.filter((part) => !lessons.includes(part));
  const own = others.length > 0 ? page : first;
  // No lesson knows what another says: each that says it has it.
  if (own === page) return [page];
  return own === undefined ? lessons : [own, ...lessons];
}
