// SPDX-License-Identifier: GPL-2.0-or-later
/** Formats for dates, evidence and sizes. */

import { locale, t } from '../base/lang/t.ts';
import { english } from '../base/lang/tags.ts';
import { formatPlaces } from '../base/units.ts';

/** Dates follow the page's language, not the region, so that screenshots read the same everywhere. */
export function dateTag(): string {
  return locale() === english ? 'en-GB' : locale();
}

/** 2026-03-01T10:20:30Z -> "1 Mar 2026". */
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

/** Capitalise an error sentence: the terminal prints it in lower case after "error:". */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Name of the evidence, for its badge. */
export function evidenceName(evidence: 'measured' | 'counted' | 'modelled'): string {
  if (evidence === 'measured') return t('measured');
  return evidence === 'counted' ? t('counted') : t('modelled');
}

/** Evidence of the figures in a sentence; with mixed evidence, that of each figure. */
export function evidenceWords(sentence: string, recorded: boolean): string {
  const modelled = sentence.includes('modelled');
  const how = !modelled
    ? t('counted')
    : sentence.includes('counted')
      ? t('each as stated')
      : t('modelled');
  return recorded ? t('{how}, recorded', { how }) : how;
}

/** 2026-03-01T10:20:30Z -> "1 Mar 2026, 10:20", in the viewer's time zone. */
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

/** 236339 -> "231 KiB". */
export function fileSize(bytes: number): string {
  return bytes < 1 << 20
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${formatPlaces(bytes / (1 << 20), 1)} MiB`;
}
