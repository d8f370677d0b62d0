// SPDX-License-Identifier: GPL-2.0-or-later
/** Groups of modules that a page always loads together, so that they need no exports and imports between them. */

interface ModuleLookup {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** The modules that a module imports statically, and the module itself. */
export function importsOf(id: string, lookup: ModuleLookup): Set<string> {
  const found = new Set([id]);
  for (const one of found)
    for (const other of lookup.getModuleInfo(one)?.importedIds ?? []) found.add(other);
  return found;
}

/**
 * Returns a function that names the group of a module.
 *
 * @param starts the name of each group, and the module that starts it; a module belongs to the first group that has it
 */
export function groupOf(
  starts: Readonly<Record<string, string>>,
): (id: string, lookup: ModuleLookup) => string | null {
  const groups = new Map<string, Set<string>>();
  return (id, lookup) => {
    for (const [name, start] of Object.entries(starts)) {
      const group = groups.get(name) ?? importsOf(start, lookup);
      groups.set(name, group);
      if (group.has(id)) return name;
    }
    return null;
  };
}
