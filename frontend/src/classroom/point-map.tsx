// SPDX-License-Identifier: GPL-2.0-or-later
/** Where a class has pointed, over the picture: a disc for each place, larger and darker where more did. */

import { t } from '../base/lang/t.ts';
import { useRoom } from './hooks.tsx';
import { heatOf } from './pointing.ts';

const least = 18;
const most = 64;

/** @param shown key of the question; null: none */
export function PointMap({ shown }: { readonly shown: string | null }) {
  const { room } = useRoom();
  const rounds = (shown !== null && room?.tallies.get(shown)?.rounds) || [];
  const last = rounds.at(-1);
  if (last === undefined || last.marks.length === 0) return null;
  const cells = heatOf(last.marks);
  const top = Math.max(...cells.map(({ count }) => count));
  return (
    <ol className="point-map" aria-label={t('Where the class pointed')} data-testid="point-map">
      {cells.map(({ x, y, count }) => {
        const size = least + (most - least) * Math.sqrt((count - 1) / Math.max(1, top - 1));
        return (
          <li
            key={`${x} ${y}`}
            style={{ left: `${100 * x}%`, top: `${100 * y}%`, width: size, height: size }}
          >
            {count > 1 && count}
          </li>
        );
      })}
    </ol>
  );
}
