// SPDX-License-Identifier: GPL-2.0-or-later
/** Replaces segments.ts in an exported site (vite.site.config.ts), whose runs come without a server. */

export class SegmentFeed {}

export function fetchedSegments(): null {
  return null;
}
