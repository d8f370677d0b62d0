// SPDX-License-Identifier: GPL-2.0-or-later
/** Keys that do what wheel, drag and brush do: zoom, move and choose the window. */

import { t } from '../base/lang/t.ts';
import type { Playback } from '../playback/hooks.tsx';
import type { KeyOf } from './key.ts';

export type WindowAct =
  | 'zoom-in'
  | 'zoom-out'
  | 'window-back'
  | 'window-on'
  | 'window-from'
  | 'window-to'
  | 'whole-run';

export const windowKeys = [
  { act: 'zoom-in', keys: ['z'], shown: 'z', what: t('zoom in at the moment') },
  { act: 'zoom-out', keys: ['Z'], shown: t('Shift z'), what: t('zoom out') },
  { act: 'window-back', keys: [','], shown: ',', what: t('move the window back by a half') },
  { act: 'window-on', keys: ['.'], shown: '.', what: t('move the window on by a half') },
  { act: 'window-from', keys: ['i'], shown: 'i', what: t('the window begins at the moment') },
  { act: 'window-to', keys: ['u'], shown: 'u', what: t('the window ends at the moment') },
  { act: 'whole-run', keys: ['0'], shown: '0', what: t('the whole run') },
] as const satisfies readonly KeyOf<WindowAct>[];

type Windows = Pick<Playback, 'now' | 'view' | 'zoom'> & {
  readonly state: Pick<Playback['state'], 'watermark'>;
};

/** What the keys do. */
export function windowActs({ now, view, zoom, state }: Windows): Record<WindowAct, () => void> {
  const move = (share: number) => {
    const { start, span } = now();
    view(start + share * span, span);
  };
  return {
    'zoom-in': () => zoom(1 / 2),
    'zoom-out': () => zoom(2),
    'window-back': () => move(-1 / 2),
    'window-on': () => move(1 / 2),
    'window-from': () => {
      const { start, span, moment } = now();
      if (moment < start + span) view(moment, start + span - moment);
    },
    'window-to': () => {
      const { start, moment } = now();
      if (moment > start) view(start, moment - start);
    },
    'whole-run': () => {
      if (state.watermark > 0) view(0, state.watermark);
    },
  };
}
