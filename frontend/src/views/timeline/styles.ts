// SPDX-License-Identifier: GPL-2.0-or-later
/** Kind -> how it is drawn. From colour, layer and place among its like; no kind is known by name. */

import type { KindFacts } from '../../derive/types.ts';

/** Texture tells kinds of one colour apart. */
export type Texture =
  | 'solid'
  | 'line'
  | 'hatch'
  | 'backhatch'
  | 'dots'
  | 'outline'
  | 'dashes'
  | 'pale'
  | 'stripes'
  | 'paledots'
  | 'hollow'
  | 'bracket'
  | 'band'
  | 'cross';

/** How functions are drawn: in rows of their own, or as a line under their thread. */
export type Functions = 'nested' | 'brackets';

export interface MarkStyle {
  readonly kind: number;
  readonly colour: KindFacts['colour'];
  readonly texture: Texture;
  /** Drawn later, so on top, and never hidden by one with less. */
  readonly rank: number;
  /** A mark narrower than this is drawn this wide, px. */
  readonly leastPx: number;
  /** Stands out of its row by so much above and below, px: short and important. */
  readonly tall: number;
  /** Of a band or of what runs on a CPU: tells neighbours of one colour apart. */
  readonly shade: number;
}

const byOrdinal: Readonly<Record<string, readonly Texture[]>> = {
  'wait/state': ['backhatch', 'hatch'],
  'other/state': ['dots', 'dashes', 'outline'],
  'other/track': ['pale'],
  'mechanism/track': ['pale', 'solid', 'stripes', 'paledots'],
  'idle/state': ['line'],
  'vain/state': ['hollow'],
  'vain/track': ['hollow'],
  'hazard/function': ['cross'],
  'hazard/state': ['cross'],
};

const ranks: Readonly<Record<KindFacts['colour'], number>> = {
  idle: 0,
  other: 1,
  vain: 2,
  work: 3,
  wait: 4,
  mechanism: 5,
  gain: 6,
  hazard: 7,
};

/** One style per kind of the lesson, in the lesson's order. */
export function stylesOf(
  kinds: readonly KindFacts[],
  functions: Functions = 'brackets',
): MarkStyle[] {
  const seen = new Map<string, number>();
  return kinds.map((kind, index) => {
    const group = `${kind.colour}/${kind.layer}`;
    const ordinal = seen.get(group) ?? 0;
    seen.set(group, ordinal + 1);
    const call: readonly Texture[] = functions === 'nested' ? ['band'] : ['bracket'];
    const textures: readonly Texture[] =
      byOrdinal[group] ?? (kind.layer === 'function' ? call : ['solid']);
    const texture = textures[ordinal % textures.length]!;
    const brief = kind.layer === 'track' && (texture === 'solid' || texture === 'stripes');
    const delay = texture === 'pale' || texture === 'paledots';
    return {
      kind: index,
      colour: kind.colour,
      texture,
      rank:
        ranks[kind.colour] + (delay ? -0.5 : 0) + (brief && kind.colour === 'mechanism' ? 0.5 : 0),
      leastPx: brief ? 2 : 1,
      tall: brief ? 2 : 0,
      shade: ordinal,
    };
  });
}

const caches = {
  nested: new WeakMap<readonly KindFacts[], MarkStyle[]>(),
  brackets: new WeakMap<readonly KindFacts[], MarkStyle[]>(),
} as const;

export function stylesFor(
  kinds: readonly KindFacts[],
  functions: Functions = 'brackets',
): readonly MarkStyle[] {
  const cache = caches[functions];
  let styles = cache.get(kinds);
  if (styles === undefined) {
    styles = stylesOf(kinds, functions);
    cache.set(kinds, styles);
  }
  return styles;
}

/** Threads side by side on a CPU. */
export function shades(kinds: readonly KindFacts[]): readonly MarkStyle[] {
  const kind = kinds.findIndex((k) => k.name === 'running');
  return [0, 1, 2].map((shade) => {
    return { kind, colour: 'work', texture: 'band', rank: 3, leastPx: 1, tall: 0, shade };
  });
}
