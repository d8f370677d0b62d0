// SPDX-License-Identifier: GPL-2.0-or-later
/** The words that a page with a server says from its start. */

import type { Catalogue } from '../../base/lang/t.ts';
import page from './page.json';
import server from './server.json';

/** Those of the lessons' own pictures. */
const views = import.meta.glob<Catalogue>('../../../../lessons/*/view/lang/de.json', {
  eager: true,
  import: 'default',
});
const words: Catalogue = Object.assign({}, ...Object.values(views), page, server);

export default words;
