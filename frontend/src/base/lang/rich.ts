// SPDX-License-Identifier: GPL-2.0-or-later
/** Texts with elements inside, whose order another language may change: rich('Press <b>stop</b> now.', { b }). */

import { IntlMessageFormat } from 'intl-messageformat';
import { createElement, Fragment, type ReactNode } from 'react';
import { mirrored } from './pseudo.ts';
import { locale, spoken, worded } from './t.ts';
import { english, isPseudo } from './tags.ts';

type Inner = (words: ReactNode) => ReactNode;

/** A text of the catalogue with elements: an element around words is a function, one without words a node. */
export function rich(
  text: string,
  values: Readonly<Record<string, ReactNode | Inner>> = {},
): ReactNode {
  const parts = formatOf(worded(text), text).format<ReactNode>(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inner(value)])),
  );
  return joined(Array.isArray(parts) ? parts : [parts]);
}

function formatOf(said: string, text: string): IntlMessageFormat {
  try {
    return new IntlMessageFormat(said, locale());
  } catch {
    return new IntlMessageFormat(text, english);
  }
}

/** The library hands a function the parts between its tags. */
function inner(value: ReactNode | Inner) {
  return typeof value === 'function'
    ? (parts: readonly ReactNode[]) => value(joined(parts))
    : (value ?? '');
}

function joined(parts: readonly ReactNode[]): ReactNode {
  const said = isPseudo(spoken())
    ? parts.map((part) => (typeof part === 'string' ? mirrored(part) : part))
    : parts;
  return createElement(Fragment, null, ...said);
}
