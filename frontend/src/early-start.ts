// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A script that runs as soon as it has arrived, before the page's own script. It connects to the server, and asks for
 * the lesson and the run that the address names. So the server reads a recording while the page's code loads.
 */

import { openingOf } from './navigation/opening.ts';
import { connectEarly } from './protocol/early.ts';

connectEarly(location, openingOf(location.search));
