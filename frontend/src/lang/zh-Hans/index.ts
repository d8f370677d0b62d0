// SPDX-License-Identifier: GPL-2.0-or-later
/** The words that a page with a server says from its start. */

import type { Catalogue } from '../../base/lang/t.ts';
import cacheLines from './cache-lines.json';
import extentStrip from './extent-strip.json';
import hogRows from './hog-rows.json';
import inodeFlow from './inode-flow.json';
import memcgWall from './memcg-wall.json';
import page from './page.json';
import server from './server.json';

const words: Catalogue = {
  ...cacheLines,
  ...extentStrip,
  ...hogRows,
  ...inodeFlow,
  ...memcgWall,
  ...page,
  ...server,
};

export default words;
