// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Which files of a catalogue have a text. The page's own files lie in src/lang/TAG: `server` has what the parts that need
 * a server say alone, `page` has all else. Lessons' pictures, plug-ins and what is loaded on demand are folders with files
 * of their own, FOLDER/lang/TAG.json, with all that they say and `page` has not: none knows what another says. A site
 * without a server has the words of the page and of its view.
 */

/** Name of the file -> where its sources are. */
const places: Readonly<Record<string, readonly string[]>> = {
  // What a site says in place of a comparison.
  page: ['compare/use-compare-view.ts'],
  server: ['compare/', 'home/', 'numbers/', 'protocol/segments.ts', 'protocol/socket.ts', 'runs/'],
};

/** Folders with words of their own, the outer one first: what is below a plug-in is loaded on demand. */
const folders = [
  /^lessons\/[^/]+\/view(?=\/)/,
  /^plugins\/[^/]+(?=\/)/,
  /^plugins\/[^/]+\/[^/]+(?=\/)/,
  /^gallery(?=\/)/,
];

/** The first file of the catalogue: what several parts say, and all others. */
export const page = 'page';

/** The part of the page, or the folder, that a source belongs to. */
export function partOf(file: string): string {
  const folder = folders.findLast((one) => one.test(file));
  if (folder !== undefined) return folder.exec(file)?.[0] ?? page;
  const fits = Object.entries(places).flatMap(([part, starts]) =>
    starts.filter((start) => file.startsWith(start)).map((start) => ({ part, start })),
  );
  const [closest] = fits.toSorted((a, b) => b.start.length - a.start.length);
  return closest?.part ?? page;
}

export function isFolder(part: string): boolean {
  return folders.some((one) => one.test(`${part}/`));
}

/** The files of a text that these sources say. */
export function filesOf(sources: readonly string[]): readonly string[] {
  const parts = [...new Set(sources.map(partOf))];
  const [first, ...others] = parts.filter((part) => !isFolder(part));
  const own = others.length > 0 ? page : first;
  if (own === page) return [page];
  const within = (part: string) => parts.some((one) => part.startsWith(`${one}/`));
  const brought = parts.filter((part) => isFolder(part) && !within(part));
  return own === undefined ? brought : [own, ...brought];
}
