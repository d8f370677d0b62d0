// SPDX-License-Identifier: GPL-2.0-or-later
/** Formats for dates, kinds of evidence, and sizes. */

import { locale, t } from '../base/lang/t.ts';
import { english } from '../base/lang/tags.ts';
import { formatPlaces } from '../base/units.ts';

/**
 * The language tag for dates. It depends on the page's language and not on the browser's region, so that screenshots
 * are the same everywhere.
 */
export function dateTag(): string {
  return locale() === english ? 'en-GB' : locale();
}

/** Format a date: 2026-03-01T10:20:30Z gives "1 Mar 2026". */
export function day(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleDateString(dateTag(), {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/**
 * Capitalise an error sentence, because errors begin in lower case for the terminal, which prints "error:" before them.
 */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of a kind of evidence, for a badge. */
export function evidenceName(evidence: 'measured' | 'counted' | 'modelled'): string {
  if (evidence === 'measured') return t('measured');
  return evidence === 'counted' ? t('counted') : t('modelled');
}

/**
 * The evidence for the figures of a sentence, in words. A sentence whose figures have several kinds of evidence states
 * the kind next to each figure.
 */
export function evidenceWords(sentence: string, recorded: boolean): string {
  const modelled = sentence.includes('modelled');
  const how = !modelled
    ? t('counted')
    : sentence.includes('counted')
      ? t('as stated for each figure')
      : t('modelled');
  return recorded ? t('{how}, recorded', { how }) : how;
}

/** Format a date and time in the viewer's time zone: 2026-03-01T10:20:30Z gives "1 Mar 2026, 10:20". */
export function when(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso || t('an unknown time');
  return at.toLocaleString(dateTag(), {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
}

/** Format a file size: 236339 gives "231 KiB". */
export function fileSize(bytes: number): string {
  return bytes < 1 << 20
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${formatPlaces(bytes / (1 << 20), 1)} MiB`;
}
