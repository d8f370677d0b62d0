// SPDX-License-Identifier: GPL-2.0-or-later
/** A patch as text becomes files, hunks and lines. Pure. */

export interface PatchLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

export interface Hunk {
  /** The function the hunk stands in, as the header names it; may be empty. */
  readonly where: string;
  readonly lines: readonly PatchLine[];
}

export interface PatchFile {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

/** Parse a unified diff; mail headers and the signature after `-- ` are skipped. */
export function parsePatch(text: string): readonly PatchFile[] {
  const files: { path: string; hunks: { where: string; lines: PatchLine[] }[] }[] = [];
  let left = 0;
  let right = 0;
  for (const line of text.split('\n')) {
    if (left > 0 || right > 0) {
      const sign = line.charAt(0) || ' ';
      if (sign === '+' || sign === '-' || sign === ' ') {
        if (sign !== '+') left -= 1;
        if (sign !== '-') right -= 1;
        files
          .at(-1)
          ?.hunks.at(-1)
          ?.lines.push({ sign, text: line.slice(1) });
      }
      continue;
    }
    const file = /^\+\+\+ (?:b\/)?(\S+)/.exec(line);
    if (file) {
      files.push({ path: file[1] ?? '', hunks: [] });
      continue;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (hunk && files.length > 0) {
      left = Number(hunk[1] ?? '1');
      right = Number(hunk[2] ?? '1');
      files.at(-1)?.hunks.push({ where: functionName(hunk[3] ?? ''), lines: [] });
    }
  }
  return files.map((f) => ({ ...f, ...tally(f.hunks) }));
}

/** `static unsigned long walk(gfp_t m, ...` -> `walk()`. */
function functionName(context: string): string {
  const call = /([A-Za-z_]\w*)\s*\(/.exec(context);
  return call ? `${call[1]}()` : context.trim();
}

/** Lines that come and lines that go. */
export function tally(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((h) => h.lines);
  return {
    added: lines.filter((l) => l.sign === '+').length,
    removed: lines.filter((l) => l.sign === '-').length,
  };
}
