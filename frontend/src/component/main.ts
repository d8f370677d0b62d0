// SPDX-License-Identifier: GPL-2.0-or-later
/** The script kernel-duet.js, which defines the element <kernel-duet> once per page. */

import { KernelDuet } from './element.ts';

if (customElements.get('kernel-duet') === undefined)
  customElements.define('kernel-duet', KernelDuet);
