// SPDX-License-Identifier: GPL-2.0-or-later
/** What `make nightly` runs and `make test` leaves out: the tag `@nightly`, and more looks at each page. */

export const nightly = process.env['DUET_NIGHTLY'] === 'yes';

/** The tag of a test that runs in every `make test` only if `always` holds. */
export function nightlyUnless(always: boolean): { tag: string[] } {
  return { tag: always ? [] : ['@nightly'] };
}
