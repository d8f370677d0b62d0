// SPDX-License-Identifier: GPL-2.0-or-later
/** Words for the readouts that base/units.ts has not. Pure; always en, so that a shared screenshot reads alike everywhere. */

const days = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** 2026-03-01T10:20:30Z -> "1 Mar 2026". */
export function day(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return days.format(at);
}

/** The terminal writes errors in lower case after "error:"; here they are sentences. */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How the figures of a sentence were obtained; a sentence that has both kinds names the kind of each. */
export function evidenceWords(sentence: string, recorded: boolean): string {
  const modelled = sentence.includes('modelled');
  const how = !modelled ? 'counted' : sentence.includes('counted') ? 'each as it says' : 'modelled';
  return recorded ? `${how}, recorded` : how;
}

/** 2026-03-01T10:20:30Z -> "1 Mar 2026, 10:20", on the clock of whoever looks. */
export function when(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso || 'an unknown time';
  return at.toLocaleString('en-GB', {
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
    : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
