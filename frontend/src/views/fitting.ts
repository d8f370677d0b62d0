// SPDX-License-Identifier: GPL-2.0-or-later
/** Words that end before the edge of their picture. */

/** The first of several wordings, the longest first, that is at most so wide; if none is, the last. */
export function fitting(
  pen: { measureText(text: string): { readonly width: number } },
  wordings: readonly string[],
  room: number,
): string {
  return wordings.find((words) => pen.measureText(words).width <= room) ?? wordings.at(-1) ?? '';
}
