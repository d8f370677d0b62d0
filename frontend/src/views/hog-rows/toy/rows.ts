// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy's lanes: reader and umount as they are dragged, and what each kernel makes of them. */

import { t as tr } from '../../../base/lang/t.ts';
import { formatNs } from '../../../base/units.ts';
import type { Item, Row } from '../../../toys/types.ts';
import { type Fate, type Race, waitOf } from './rule.ts';

export function inputRow({ reader }: Race): Row {
  return {
    name: 'reader',
    title: tr('a reader walks the list'),
    items: [
      {
        ...{ kind: 'stretch', from: reader.from, to: reader.to, label: 'shrink_slab()' },
        ...{ face: 'hazard', look: 'solid', handle: 'reader' },
      },
      { kind: 'step', at: reader.to, label: '', face: 'hazard', handle: 'end', aside: true },
    ],
  };
}

export function umountRow({ umount }: Race): Row {
  const label = 'unregister_shrinker()';
  return {
    name: 'umount',
    title: tr('an umount'),
    items: [{ kind: 'step', at: umount, label, code: true, face: 'work', handle: 'umount' }],
  };
}

export function laneRow(name: string, title: string, race: Race, fate: Fate, verdict: string): Row {
  const waits = waitOf(fate);
  const items: Item[] = [];
  if (waits > 0) {
    const label = tr('the umount waits {waits}', { waits: formatNs(waits) });
    items.push({
      kind: 'stretch',
      from: fate.from,
      to: fate.to,
      label,
      face: 'wait',
      look: 'hatched',
      terse: true,
    });
  }
  if (fate.spins) {
    const { from, to } = fate.spins;
    items.push({ kind: 'stretch', from, to, label: '', face: 'mechanism', look: 'solid' });
  }
  fate.looks.forEach((at) => {
    items.push({ kind: 'step', at, label: 'look', face: 'mechanism' });
  });
  const quits = fate.walked === 0;
  if (quits)
    items.push({ kind: 'step', at: race.reader.from, label: tr('gives up'), face: 'hazard' });
  return { name, title, items, verdict, face: waits > 0 ? 'wait' : quits ? 'hazard' : 'gain' };
}
