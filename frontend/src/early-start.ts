// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Script that runs before the page's own script, as soon as it has come: it connects to the server, and asks for the
 * lesson and the run of the address. So the server reads a recording while the page's code loads.
 */

import { openingOf } from './navigation/opening.ts';
import { connectEarly } from './protocol/early.ts';

connectEarly(location, openingOf(location.search));
