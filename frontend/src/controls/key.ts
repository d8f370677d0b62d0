// SPDX-License-Identifier: GPL-2.0-or-later
/** A key of the page. */

export interface KeyOf<Act extends string> {
  readonly act: Act;
  /** As the browser names them, with `Shift+` where that matters. */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly what: string;
}
