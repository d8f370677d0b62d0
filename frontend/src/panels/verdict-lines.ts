// SPDX-License-Identifier: GPL-2.0-or-later
/** Verdicts as a screen writes them: a line for each kernel, each thing once. A mail has the plain ASCII. Pure. */

import type { MeasuredMessage } from '../protocol/messages.ts';

/** What the server writes for mails: "-" before a number is a minus, "us" is the unit. */
export function onScreen(text: string): string {
  return text.replace(/(?<=^|\s)-(?=\d)/g, '−').replace(/\bus\b/g, 'µs');
}

/** The server joins the sentences of all kernels; each ends with what it rests on, or gives no verdict. */
export function verdictLines(verdict: string): string[] {
  const lines = verdict.split(/(?<=\)\.) |(?<=\.) (?=No verdict)/);
  return lines.filter((line) => line !== '').map(onScreen);
}

type Row = MeasuredMessage['rows'][number];

/** Rows whose own words the sentences above do not say. */
export function rowsBeyond(measured: Pick<MeasuredMessage, 'rows' | 'verdict'>): readonly Row[] {
  const { rows, verdict } = measured;
  return rows.filter((row) => row.verdict && !(verdict ?? '').includes(row.verdict));
}
