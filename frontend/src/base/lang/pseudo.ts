// SPDX-License-Identifier: GPL-2.0-or-later
/** English as a language that is written from right to left and needs more room, for tests of the layout. Pure. */

/** Right-to-left override, and its end: letters stand as those of Arabic would. */
const begin = '\u202e';
const end = '\u202c';

/** Translations are longer by a third; short labels by more. */
export function mirrored(text: string): string {
  if (text.trim() === '') return text;
  const longer = text.replaceAll(/[aeiou](?=[a-z])/g, (letter) => letter + letter);
  return longer.replace(/\S.*\S|\S/s, (words) => `${begin}${words}${end}`);
}
