// SPDX-License-Identifier: GPL-2.0-or-later
/** What a page asks for first. Pure. */

import { completeSlug } from '../base/typed.ts';
import { fetchesSegments } from '../protocol/early.ts';
import type { ClientMessage } from '../protocol/messages.ts';
import { readPlace } from './place.ts';

/**
 * The first message of the page at this address; null if the address names no lesson, or if it names two runs. If the
 * page asks for something else, both messages are sent.
 */
export function openingOf(search: string): ClientMessage | null {
  const { lesson, run, step, beside } = readPlace(search);
  if (lesson === null || beside !== null || !completeSlug.test(lesson)) return null;
  return {
    type: 'open',
    lesson,
    ...(run === null ? {} : { run }),
    ...(step === null ? {} : { step }),
    ...(fetchesSegments() ? { segments: true } : {}),
  };
}
