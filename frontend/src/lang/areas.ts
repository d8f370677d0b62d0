// SPDX-License-Identifier: GPL-2.0-or-later
/** Folders of the page whose words are English in every language, until they go through the catalogues. */

export const notYet = [
  'classroom',
  'editor',
  'gallery',
  'labs',
  'numbers',
  'svg',
  'views/cache-lines',
  'views/extent-strip',
  'views/inode-flow',
  'views/memcg-wall',
] as const;
