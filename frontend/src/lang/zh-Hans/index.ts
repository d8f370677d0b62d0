// SPDX-License-Identifier: GPL-2.0-or-later
/** The Chinese texts that a page with a server needs immediately. */

import type { Catalogue } from '../../base/lang/t.ts';
import page from './page.json';
import server from './server.json';

/** Chinese texts of plug-ins and of lessons' own pictures. */
const brought = import.meta.glob<Catalogue>(
  ['../../../../lessons/*/view/lang/zh-Hans.json', '../../plugins/*/lang/zh-Hans.json'],
  { eager: true, import: 'default' },
);
const words: Catalogue = Object.assign({}, ...Object.values(brought), page, server);

export default words;
