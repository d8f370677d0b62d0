// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The steps by which a bit goes, drawn to scale from events: a look that finds nothing, the clear, the second look.
 * The barrier is no event: it stands where the code has it, behind the clear. Events are written when a look is over,
 * so the first look's begin is not known, and its box has a fixed length.
 */

import { t as tr } from '../../base/lang/t.ts';
import { ns } from '../../base/units.ts';
import { heldTime } from '../../derive/align.ts';
import type { Mark, RunIndex } from '../../derive/types.ts';
import type { Drawing } from '../contract.ts';
import type { Pen } from '../paints.ts';
import { Count } from './cells.ts';
import { Strip } from './clearing-strip.ts';
import { type Clearing, clearingAt } from './clearings.ts';
import { cellBox, type LaidWall, type WallLayout } from './layout.ts';
import { markOfCell } from './marks.ts';
import { memcgName } from './names.ts';
import { type Wall, wallOf } from './wall.ts';

/** The clearing that a lane's picture shows; null: none yet in this call. */
export function shownClearing(wall: Wall, drawing: Pick<Drawing, 'frame'>): Clearing | null {
  const { lane, readsMap } = wall.replay;
  if (!readsMap) return null;
  const t = heldTime(lane, drawing.frame);
  const { n } = wall.at(t, 'draw');
  if (n[Count.call] === 0) return null;
  return clearingAt(lane, n[Count.began]!, t, drawing.frame.span);
}

/** The clearing as the mark of its cell. */
export function clearingMark(index: RunIndex, wall: Wall, one: Clearing): Mark {
  const row = wall.replay.rows[one.at]!;
  return markOfCell(index, wall.replay.lane.arm, row, one.id, 'visit_again', ns(one.clear));
}

/** Is the point on the steps of a lane? */
export function overClearing(layout: WallLayout, laid: LaidWall, x: number, y: number): boolean {
  const { clearing } = layout;
  if (clearing === null) return false;
  const left = laid.x + clearing.dx;
  return (
    x >= left && x < left + clearing.width && y >= clearing.y && y < clearing.y + 6 * clearing.line
  );
}

export function drawClearing(pen: Pen, layout: WallLayout, laid: LaidWall, drawing: Drawing): void {
  const { clearing } = layout;
  const lane = drawing.index.lanes.find((l) => l.arm === laid.arm);
  if (clearing === null || lane === undefined) return;
  const { theme } = drawing;
  const wall = wallOf(lane, drawing.lesson);
  const strip = new Strip(pen, theme, clearing, laid.x + clearing.dx);
  const { line } = clearing;
  const top = clearing.y + clearing.fontSize;
  if (!wall.replay.readsMap) {
    if (strip.narrow()) return strip.text(tr('clears no bit'), 0, top, theme.soft);
    strip.text(tr('How a bit goes: not at all. This walk looks once,'), 0, top, theme.soft);
    strip.text(tr('clears nothing, and has no race to lose.'), 0, top + line, theme.soft);
    return;
  }
  const one = shownClearing(wall, drawing);
  if (one === null) {
    const t = heldTime(lane, drawing.frame);
    const seen = wall.at(t, 'draw').n;
    const why =
      seen[Count.cleared]! > 0
        ? tr('its steps are not traced one by one')
        : tr('none so far in this call');
    strip.text(
      strip.narrow() ? tr('no bit gone') : tr('How a bit goes: {why}', { why }),
      0,
      top,
      theme.soft,
    );
    return;
  }
  const row = wall.replay.rows[one.at]!;
  const { x, y, wide, high } = cellBox(layout, laid, row, one.id);
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 1.5;
  pen.strokeRect(x - 2, y - 2, wide + 3, high + 3);
  const whose = tr('{memcg}, shrinker {id}', { memcg: memcgName(wall.replay, row), id: one.id });
  strip.title(
    strip.narrow() ? tr('how a bit goes') : tr('How a bit goes: {whose}', { whose }),
    top,
  );
  strip.steps(lane, one, heldTime(lane, drawing.frame), top + line);
}
