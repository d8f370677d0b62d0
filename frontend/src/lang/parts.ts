// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Finds the catalogue file for a text. The page's own files are in src/lang/TAG: `server` contains the texts that only
 * parts with a server use, and `page` contains all other texts of the page. Lessons' pictures, plug-ins, and folders
 * that are loaded on demand have their own files, FOLDER/lang/TAG.json. Such a file contains all texts of its folder
 * that `page` lacks, even if the files of other folders contain them too. A site without a server has the texts of the
 * page and of its view.
 */

/** Maps the name of a catalogue file to the folders and files whose texts it contains. */
const places: Readonly<Record<string, readonly string[]>> = {
  // A site uses this file instead of the comparison page.
  page: ['compare/use-compare-view.ts'],
  server: ['compare/', 'home/', 'numbers/', 'protocol/segments.ts', 'protocol/socket.ts', 'runs/'],
};

/** Folders that have catalogues of their own, outer folders first. A folder inside a plug-in is loaded on demand. */
const folders = [
  /^lessons\/[^/]+\/view(?=\/)/,
  /^plugins\/[^/]+(?=\/)/,
  /^plugins\/[^/]+\/[^/]+(?=\/)/,
  /^gallery(?=\/)/,
];

/**
 * The default catalogue file. It contains texts that several parts share, and texts of all sources not listed above.
 */
export const page = 'page';

/** The part of the page or the folder to which a source file belongs. */
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

/** The catalogue files that must contain a text used by these source files. */
export function filesOf(sources: readonly string[]): readonly string[] {
  const parts = [...new Set(sources.map(partOf))];
  const [first, ...others] = parts.filter((part) => !isFolder(part));
  const own = others.length > 0 ? page : first;
  if (own === page) return [page];
  const within = (part: string) => parts.some((one) => part.startsWith(`${one}/`));
  const brought = parts.filter((part) => isFolder(part) && !within(part));
  return own === undefined ? brought : [own, ...brought];
}
