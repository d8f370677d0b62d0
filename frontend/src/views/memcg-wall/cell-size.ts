// SPDX-License-Identifier: GPL-2.0-or-later
/** How large a cell of a wall is: as its room has it, within bounds, and in pixels of an image. */

/** A cell is at most so large, px, and at most so many times as high as it is wide, or as wide as it is high. */
export const mostCell = 46;
const mostStretch = 1.8;
/** A wall that whole pixels would make smaller than this share of its room is drawn larger and shrunk. */
const leastShare = 0.9;

interface CellSize {
  readonly wide: number;
  readonly high: number;
}

/** The largest cell in such a room that is still a cell. */
export function stretched(wide: number, high: number): CellSize {
  const most = Math.min(wide, high, mostCell) * mostStretch;
  return { wide: Math.min(wide, mostCell, most), high: Math.min(high, most) };
}

/** A cell in pixels of the image, and CSS px per pixel: the image is shrunk as a whole where whole pixels do not do. */
export function pixelsOf({ wide, high }: CellSize, dpr: number) {
  const least = Math.min(wide, high) * dpr;
  const whole = least >= 1 && Math.floor(least) >= least * leastShare;
  const share = whole ? 1 : least / Math.max(1, Math.ceil(least));
  const pixels = (px: number) => Math.max(1, Math.floor((px * dpr) / share + 1e-6));
  return { pitch: pixels(wide), tall: pixels(high), scale: share / dpr };
}
