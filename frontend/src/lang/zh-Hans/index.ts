// SPDX-License-Identifier: GPL-2.0-or-later
/** The words that a page with a server says from its start. */

import type { Catalogue } from '../../base/lang/t.ts';
import page from './page.json';
import server from './server.json';

/** Those that the lessons' own pictures and plug-ins bring. */
const brought = import.meta.glob<Catalogue>(
  ['../../../../lessons/*/view/lang/zh-Hans.json', '../../plugins/*/lang/zh-Hans.json'],
  { eager: true, import: 'default' },
);
const words: Catalogue = Object.assign({}, ...Object.values(brought), page, server);

export default words;
