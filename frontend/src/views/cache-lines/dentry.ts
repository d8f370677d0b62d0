// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What is known of a struct dentry beforehand (fs/dcache.c of 6.1): which fields a look-up reads, which one is the
 * reference count, and how a name is compared. Of any other object only the counts tell what is written.
 */

import { t } from '../../base/lang/t.ts';
import type { LaneSample } from '../../derive/types.ts';

/** What a field is to the operation; the same names as the lesson's kinds. */
export type Role = 'name' | 'count' | 'chain' | 'plain';

/** What is known of a kind of object before anything was counted. */
export interface Known {
  readonly roles: Readonly<Record<string, Role>>;
  /** The field that everybody writes, and its line, in words. */
  readonly hot: string;
  readonly hotLine: string;
  /** The field whose bytes are compared. */
  readonly name: string;
}

const dentry: Known = {
  roles: {
    d_iname: 'name',
    d_lockref: 'count',
    d_seq: 'chain',
    d_hash: 'chain',
    d_parent: 'chain',
    d_name: 'chain',
  },
  hot: t('count'),
  hotLine: t("count's line"),
  name: 'd_iname',
};

/** What is known of an object with these fields; null: nothing. */
export function knownOf(fields: ReadonlySet<string>): Known | null {
  return fields.has('d_iname') && fields.has('d_lockref') ? dentry : null;
}

/** dentry_string_cmp() compares words of so many bytes. */
const wordBytes = 8;

/** The name of the live object, as far as it lies inside. */
export interface InnerName {
  readonly length: number;
  /** Bytes [from, to) that a comparison of this name reads; an empty range: the name lies elsewhere. */
  readonly compared: readonly [from: number, to: number];
  /** Its letters by byte; '' elsewhere. */
  readonly letters: readonly string[];
}

interface Place {
  readonly at: number;
  readonly size: number;
}

/**
 * @param field where its inner name lies
 * @param bytes of all lines
 * @param lead bytes of the first line before the object
 */
export function innerName(
  { facts, columns }: Pick<LaneSample, 'facts' | 'columns'>,
  field: Place,
  bytes: number,
  lead: number,
): InnerName {
  const length = facts['name_length'] ?? 0;
  const { at: from, size } = field;
  if (facts['inline_name'] !== 1)
    return { length, compared: [from, from], letters: Array(bytes).fill('') };
  const words = Math.ceil(length / wordBytes) * wordBytes;
  const letters = Array.from({ length: bytes }, (_, at) => {
    const code = at >= from && at < from + length ? Number(columns['bytes']?.[at - lead] ?? 0) : 0;
    return code > 32 && code < 127 ? String.fromCharCode(code) : '';
  });
  return { length, compared: [from, from + Math.min(words, size)], letters };
}
