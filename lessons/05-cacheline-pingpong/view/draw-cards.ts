// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Draws CPUs with their copies of the lines, and lines that travel between CPUs. All of this is modelled, so every edge
 * is dashed.
 */

import { t } from '@page/base/lang/t.ts';
import type { Box, Point } from '@page/views/contract.ts';
import { brushAccess, brushCross, dashedBox, type StateName } from './brush.ts';
import { noObject } from './counted.ts';
import { beats, between, type Easel, write } from './easel.ts';
import { fieldWords, lineBytes, runsOf, type Struct } from './fields.ts';
import { byteBoxes, type Card, partOf } from './layout.ts';
import { type LineStates, stateNames, writeTransfer } from './model/coherence.ts';
import {
  type Access,
  accessAt,
  glowSteps,
  happening,
  type LaneNow,
  lastOf,
  statesAt,
} from './now.ts';

// Draws the struct's bytes: boxes of lines, names of fields, letters of the live name, and accessed bytes.

export function drawStruct(easel: Easel): void {
  const { shown, layout, laid } = easel;
  for (const line of laid.lines.keys()) drawLine(easel, line);
  if (shown.struct === null) {
    const { x, y } = laid.lines[0]!;
    write(easel, noObject(easel.drawing.lesson), x, y - layout.fontSize * 0.5);
    return;
  }
  drawFields(easel, shown.struct);
  for (const { access, alpha } of lit(easel)) drawAccess(easel, access, alpha);
  drawLetters(easel, shown.struct);
}

/** Draw the box of 64 bytes, and the line's number. */
function drawLine(easel: Easel, line: number): void {
  const { pen, layout, laid, drawing } = easel;
  const { theme } = drawing;
  const { cell, perRow, pitch, high, gutter } = layout;
  const { x, y } = laid.lines[line]!;
  const rows = lineBytes / perRow;
  pen.strokeStyle = theme.faint;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.roundRect(x - 3, y - 3, perRow * cell + 6, (rows - 1) * pitch + high + 6, 5);
  pen.stroke();
  const lock = line === easel.shown.struct?.hot?.line;
  pen.textBaseline = 'middle';
  const left = x - gutter;
  const colour = lock ? theme.mechanism : theme.soft;
  write(easel, t('line {line}', { line }), left, y + high / 2, {
    colour,
    weight: lock ? 650 : 500,
  });
  if (rows > 1) {
    const bytes = `${line * lineBytes}–${(line + 1) * lineBytes - 1}`;
    write(easel, bytes, left, y + pitch + high / 2, { colour: theme.faint });
  }
  pen.textBaseline = 'alphabetic';
}

function drawFields(easel: Easel, struct: Struct): void {
  const { pen, layout, laid, brushes, shade, drawing } = easel;
  for (const runs of runsOf(struct)) {
    for (const { at, size, kind, field } of runs) {
      const brush = brushes.bytes[kind];
      for (const [i, box] of byteBoxes(layout, laid, at, size).entries()) {
        const { x, y, w, h } = box;
        pen.globalAlpha = shade(kind);
        pen.fillStyle = brush.fill;
        pen.fillRect(x + 0.5, y, w - 1, h);
        ticks(easel, box);
        pen.strokeStyle = brush.edge;
        pen.lineWidth = 1;
        pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
        pen.globalAlpha = 1;
        // If a field has bytes of two kinds, write its name over the first run only, and again in each further row.
        const goesOn = i === 0 && at % layout.perRow > 0 && struct.fieldAt[at - 1] === field;
        const name = struct.fields[field]?.name ?? '';
        const strong = kind === 'count' ? drawing.theme.mechanism : undefined;
        if (name !== '' && !goesOn) label(easel, name, x, y, w, strong);
      }
    }
  }
}

/** Draw the boundaries of single bytes if a byte is wide enough. */
function ticks({ pen, layout, drawing }: Easel, { x, y, w, h }: Box): void {
  if (layout.cell < 6) return;
  const before = pen.globalAlpha;
  pen.globalAlpha = before * 0.5;
  pen.fillStyle = drawing.theme.staff;
  for (let at = layout.cell; at < w - 1; at += layout.cell) pen.fillRect(x + at, y + h - 5, 1, 4);
  pen.globalAlpha = before;
}

/** Gap between the names of two fields, px. */
const gap = 5;

/** Draw a field's name over its bytes. Draw nothing if the name does not fit. */
function label(
  easel: Easel,
  name: string,
  x: number,
  y: number,
  room: number,
  strong: string | undefined,
): void {
  const { pen, layout, drawing } = easel;
  pen.font = `${strong === undefined ? 400 : 650} ${layout.fontSize}px ${drawing.theme.font}`;
  const wide = pen.measureText(name).width;
  if (wide > room + 2) return;
  // Use a smaller font if the name would touch the next one.
  const size = layout.fontSize * Math.min(1, (room - gap) / wide);
  const colour = strong ?? drawing.theme.soft;
  const weight = strong === undefined ? 400 : 650;
  write(easel, name, x + 1, y - layout.fontSize * 0.36, { colour, weight, size });
}

function drawLetters({ pen, layout, laid, drawing, brushes }: Easel, struct: Struct): void {
  if (layout.cell < layout.fontSize * 0.62) return;
  pen.font = `600 ${layout.fontSize}px ${drawing.theme.mono}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  for (const [at, letter] of (struct.name?.letters ?? []).entries()) {
    if (letter === '') continue;
    const [box] = byteBoxes(layout, laid, at, 1);
    if (box === undefined) continue;
    pen.fillStyle = brushes.bytes.name.ink;
    pen.fillText(letter, box.x + box.w / 2, box.y + box.h / 2 + 1);
  }
  pen.textBaseline = 'alphabetic';
}

/** Number of accesses for which bytes stay highlighted. */
const glow = 4;

interface Lit {
  readonly access: Access;
  readonly alpha: number;
}

/** Accesses whose bytes are highlighted: the last few finished accesses and the current access. The newest is last. */
function lit({ shown }: Pick<Easel, 'shown'>): Lit[] {
  const { model, done, under, part, lane } = shown;
  if (model === null) return [];
  const list: Lit[] = [];
  for (let age = glow; age >= 1; age--) {
    if (done - age < 0) continue;
    const alpha = Math.max(0, 1 - (age - 1 + part) / glow) ** 1.6;
    if (alpha > 0.04) list.push({ access: accessAt(lane, model, done - age), alpha });
  }
  if (under === null) return list;
  const now =
    happening(under) === 'hit' ? between(part, 0, 0.3) : between(part, beats.comes, beats.lit);
  if (now > 0) list.push({ access: under, alpha: now });
  return list;
}

function drawAccess(easel: Easel, { at, size, kind }: Access, alpha: number): void {
  const { pen, layout, laid, shown, brushes, drawing } = easel;
  const { struct } = shown;
  if (struct === null) return;
  const field = struct.fields[struct.fieldAt[at] ?? -1];
  const brush = brushes.bytes[field?.role ?? 'plain'];
  for (const box of byteBoxes(layout, laid, at, size)) {
    pen.globalAlpha = alpha;
    brushAccess(pen, box, kind, brush.strong, drawing.theme.paper);
  }
  pen.globalAlpha = 1;
}

// Draws the paths of travelling lines and of upgrade messages, and finds the path at a point.

type Laid = Pick<Easel, 'laid' | 'layout'>;
type Pair = readonly [from: Point, to: Point];

function middleOf({ laid }: Pick<Easel, 'laid'>, cpu: number, line: number): Point | null {
  const box = laid.cards[cpu]?.slots[line];
  return box === undefined ? null : { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}

/** Point where a path ends at a copy. A small copy has its letter inside, so the path ends at its upper edge. */
function doorOf({ laid, layout }: Laid, cpu: number, line: number): Point | null {
  const middle = middleOf({ laid }, cpu, line);
  const top = laid.cards[cpu]?.slots[line]?.y;
  return layout.strips || middle === null || top === undefined ? middle : { x: middle.x, y: top };
}

/** The ends of a path. A path starts at another CPU's copy or, for a fetch, at the line in memory. */
function ends(place: Laid, access: Access): Pair | null {
  const { laid, layout } = place;
  const goal = doorOf(place, access.cpu, access.line);
  if (goal === null) return null;
  if (happening(access) === 'transfer') {
    const from = doorOf(place, access.from, access.line);
    return from === null ? null : [from, goal];
  }
  const line = laid.lines[access.line];
  if (line === undefined) return null;
  return [{ x: goal.x, y: line.y + layout.high + 6 }, goal];
}

/** An upgrade sends a message to each other CPU that may have a copy. */
function upgradeEnds({ laid }: Pick<Easel, 'laid'>, { cpu, line }: Access): readonly Pair[] {
  const from = middleOf({ laid }, cpu, line);
  if (from === null) return [];
  return laid.cards.flatMap((card): Pair[] => {
    const to = card.cpu === cpu ? null : middleOf({ laid }, card.cpu, line);
    return to === null ? [] : [[from, { x: to.x, y: from.y }]];
  });
}

/** A point of a path, `part` of the way along. A path between two CPUs bends upwards. */
function along(from: Point, to: Point, part: number, rise: number): Point {
  const bend = from.y === to.y ? Math.sin(part * Math.PI) * rise : 0;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part - bend };
}

function riseOf({ layout }: Pick<Easel, 'layout'>, from: Point, to: Point): number {
  const far = Math.abs(to.x - from.x);
  return layout.strips ? 0 : Math.min(26, 6 + far / 10);
}

/** Segments of the path of an access that moves a line. */
function piecesOf(place: Laid, access: Access): readonly Pair[] {
  if (happening(access) === 'upgrade') return upgradeEnds(place, access);
  const both = ends(place, access);
  if (both === null) return [];
  const [from, to] = both;
  const rise = riseOf(place, from, to);
  const steps = rise === 0 ? 1 : 12;
  const at = (i: number) => along(from, to, i / steps, rise);
  return Array.from({ length: steps }, (_, i): Pair => [at(i), at(i + 1)]);
}

function distance({ x, y }: Point, [a, b]: Pair): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const long = dx * dx + dy * dy;
  const part = long === 0 ? 0 : Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / long));
  return Math.hypot(x - a.x - part * dx, y - a.y - part * dy);
}

/** Maximum distance, in px, at which a pointer counts as on a path. */
const reach = 5;

/** Accesses with a visible path: the current access, then those whose paths are still fading, newest first. */
export function drawnWays({ under, done, model, lane }: LaneNow): readonly Access[] {
  if (model === null) return [];
  const past = Array.from({ length: Math.min(glowSteps, done) }, (_, age) => done - 1 - age);
  const drawn = [...(under === null ? [] : [under]), ...past.map((k) => accessAt(lane, model, k))];
  return drawn.filter((access) => happening(access) !== 'hit');
}

export function isOnWay(place: Laid, access: Access, at: Point, within = reach): boolean {
  return piecesOf(place, access).some((one) => distance(at, one) <= within);
}

export function drawCards(easel: Easel): void {
  const { shown, laid, layout, pen } = easel;
  const { model, under, part } = shown;
  if (model === null) return;
  const { states, lostAge } = statesAt(model, shown.done);
  const after = under === null ? states : afterOf(states, under);
  const arrived = under !== null && part >= beats.comes;
  const copies: Copy[] = [];
  const { cpus } = model.trace.log;
  for (const card of laid.cards) {
    drawCard(easel, card, under?.cpu === card.cpu);
    for (const [line, slot] of card.slots.entries()) {
      // No CPU has a copy of a line that no CPU accesses.
      const touched = line < states.lines;
      const present = arrived ? after : states;
      let name = touched ? stateNames[present.state(card.cpu, line)]! : 'I';
      let lost = touched ? lostAge[line * cpus + card.cpu]! : 0;
      if (under !== null && leaves(under, states, card.cpu, line) && part > beats.leaves) {
        name = 'I';
        lost = 1;
      }
      const copy = { slot, line, name, lost: name === 'I' ? lost : 0 };
      drawCopy(easel, copy);
      copies.push(copy);
    }
  }
  if (layout.cardHead === 0 || !layout.titled) numbers(easel);
  for (const { access, alpha } of lit(easel)) {
    // A lost copy has no highlighted bytes.
    const mine = access === under || (arrived ? after : states).has(access.cpu, access.line);
    const going = under !== null && leaves(under, states, access.cpu, access.line);
    if (mine && !(going && part > beats.leaves)) litInCopy(easel, access, alpha);
  }
  traces(easel);
  if (under !== null) motion(easel, under, part);
  // Draw the letters last, because highlighted bytes and travelling lines would cover them.
  for (const copy of copies) drawLetter(easel, copy);
  pen.globalAlpha = 1;
  pen.setLineDash([]);
}

function afterOf(states: LineStates, { cpu, line, kind }: Access): LineStates {
  const after = states.copy();
  after.access(cpu, line, kind);
  return after;
}

/** Tell whether an access removes this copy because another CPU writes the line. */
function leaves(access: Access, states: LineStates, cpu: number, line: number): boolean {
  return access.lost > 0 && access.line === line && access.cpu !== cpu && states.has(cpu, line);
}

function drawCard(easel: Easel, card: Card, active: boolean): void {
  const { pen, layout, drawing } = easel;
  const { theme } = drawing;
  if (layout.cardHead === 0) return;
  pen.strokeStyle = active ? theme.ink : theme.rule;
  pen.lineWidth = active ? 1.5 : 1;
  pen.beginPath();
  pen.roundRect(card.x + 0.5, card.y + 0.5, card.w - 1, card.h, 6);
  pen.stroke();
  const text = Math.round(layout.fontSize * 1.35);
  const y = card.y + text - 2;
  const wide = write(easel, t('CPU {cpu}', { cpu: card.cpu }), card.x + 7, y, {
    weight: 650,
    colour: theme.ink,
  });
  if (!layout.strips) return;
  const last = shownAccess(easel, card.cpu);
  if (last === null) return;
  write(easel, `${easel.drawing.lesson.operation.name} ${last.op}`, card.x + 7 + wide + 10, y);
  if (layout.cardHead < 2) return;
  write(easel, clip(easel, accessWords(easel, last), card.w - 14), card.x + 7, y + text);
}

/** The access to show for a CPU: its current access once it has begun, otherwise the CPU's last access. */
function shownAccess({ shown }: Easel, cpu: number): Access | null {
  const { under, part } = shown;
  const begun = under !== null && (happening(under) === 'hit' ? part > 0.05 : part > beats.leaves);
  return under !== null && begun && under.cpu === cpu ? under : lastOf(shown, cpu, 400);
}

export function accessWords({ shown }: Pick<Easel, 'shown'>, { kind, at, size }: Access): string {
  return t('{kind, select, 0 {reads} 1 {writes} 2 {reads and writes} other {touches}} {field}', {
    kind: String(kind),
    field: fieldWords(shown.struct, at, size),
  });
}

function clip({ pen, layout, drawing }: Easel, text: string, room: number): string {
  pen.font = `400 ${layout.fontSize}px ${drawing.theme.font}`;
  let words = text;
  while (words.length > 3 && pen.measureText(words).width > room) words = `${words.slice(0, -2)}…`;
  return words;
}

/** Draw the CPUs' numbers. With many CPUs, draw only some numbers. */
function numbers(easel: Easel): void {
  const { laid, layout, drawing } = easel;
  const every = [1, 2, 5, 10, 20].find(
    (n) => n * ((laid.cards[1]?.x ?? 1e9) - laid.cards[0]!.x) >= layout.fontSize * 2.2,
  );
  for (const { cpu, x, w, y } of laid.cards) {
    if (cpu % (every ?? 20) !== 0) continue;
    write(easel, String(cpu), x + w / 2, y - 3, { align: 'center', colour: drawing.theme.faint });
  }
}

interface Copy {
  readonly slot: Box;
  readonly line: number;
  readonly name: StateName;
  /** Number of accesses since the copy was lost; 0 if it was not lost. */
  readonly lost: number;
}

function drawCopy(easel: Easel, { slot, line, name, lost }: Copy): void {
  const { pen, layout, brushes, drawing, shade } = easel;
  const { theme } = drawing;
  const brush = brushes.states[name];
  const kind = `copy_${name.toLowerCase()}`;
  pen.globalAlpha = shade(kind);
  pen.fillStyle = name === 'I' ? theme.paper : layout.strips ? theme.paper : brush.fill;
  pen.fillRect(slot.x, slot.y, slot.w, slot.h);
  if (layout.strips && name !== 'I') {
    pen.globalAlpha = shade(kind) * (name === 'S' ? 0.6 : 1);
    strip(easel, slot, line);
    pen.globalAlpha = shade(kind);
  }
  // In a copy narrower than 6 px, the edge would hide the fill.
  if (slot.w >= 6) dashedBox(pen, slot, brush.edge, name === 'M' ? 2.5 : name === 'E' ? 2 : 1.25);
  else if (name === 'I') dashedBox(pen, slot, brush.edge, 0.5, [2, 2]);
  if (lost > 0) {
    pen.globalAlpha = shade(kind) * Math.max(0.2, 1 - (lost - 1) / glowSteps);
    brushCross(pen, slot, theme.hazard);
  }
  pen.globalAlpha = 1;
}

/** Draw a copy's letter. It must be readable even if the copy's kind is not in focus. */
function drawLetter(easel: Easel, { slot, name, lost }: Copy): void {
  const { pen, layout } = easel;
  const { theme } = easel.drawing;
  const { strips, fontSize } = layout;
  if (!strips && (slot.w < fontSize * 1.1 || lost > 0)) return;
  const colour = name === 'I' ? (lost > 0 ? theme.hazard : theme.faint) : theme.ink;
  const x = strips ? slot.x - fontSize * 0.85 : slot.x + slot.w / 2;
  const y = slot.y + slot.h / 2;
  pen.globalAlpha = 1;
  // A path that would cross a letter ends at the letter.
  if (drawnWays(easel.shown).some((way) => isOnWay(easel, way, { x, y }, fontSize * 0.75))) {
    const wide = Math.min(fontSize * 1.2, strips ? fontSize * 1.2 : slot.w - 2);
    pen.fillStyle = theme.paper;
    pen.fillRect(x - wide / 2, y - fontSize * 0.6, wide, fontSize * 1.2);
  }
  pen.textBaseline = 'middle';
  write(easel, name, x, y + 1, { ...bold(name, colour), align: 'center' });
  pen.textBaseline = 'alphabetic';
}

function bold(name: StateName, colour: string) {
  return { weight: name === 'I' ? 500 : 700, colour };
}

/** Draw the contents of a copy, which are the fields of the line. */
function strip(
  { pen, brushes, shown }: Pick<Easel, 'pen' | 'brushes' | 'shown'>,
  slot: Box,
  line: number,
): void {
  const runs = shown.struct === null ? [] : (runsOf(shown.struct)[line] ?? []);
  for (const { at, size, kind } of runs) {
    const { x, y, w, h } = partOf(slot, at, size);
    pen.fillStyle = brushes.bytes[kind].fill;
    pen.fillRect(x, y + 2, w, h - 4);
  }
}

/** Highlight the accessed bytes in the CPU's copy. */
function litInCopy(easel: Easel, { cpu, line, at, size, kind }: Access, alpha: number): void {
  const { laid, layout, pen, shown, brushes, drawing } = easel;
  const slot = laid.cards[cpu]?.slots[line];
  if (slot === undefined) return;
  const struct = shown.struct;
  const role = struct?.fields[struct.fieldAt[at] ?? -1]?.role ?? 'plain';
  const box = layout.strips ? partOf(slot, at, size) : slot;
  const inner = layout.strips ? { x: box.x, y: box.y + 2, w: box.w, h: box.h - 4 } : box;
  // In a small copy, the letter must stay readable over the highlighted bytes.
  pen.globalAlpha = alpha * (layout.strips ? 1 : 0.35);
  brushAccess(pen, inner, kind, brushes.bytes[role].strong, drawing.theme.paper);
  pen.globalAlpha = 1;
}

/**
 * Draw fading paths of lines that travelled recently, so that they are visible at full speed and in a still picture.
 */
function traces(easel: Easel): void {
  const { shown, pen } = easel;
  const { model, done, part, lane } = shown;
  if (model === null) return;
  for (let age = glowSteps; age >= 1; age--) {
    if (done - age < 0) continue;
    const access = accessAt(lane, model, done - age);
    const what = happening(access);
    if (what === 'hit') continue;
    pen.globalAlpha = Math.max(0, 1 - (age - 1 + part) / glowSteps) ** 1.5;
    way(easel, access, 1);
  }
  pen.globalAlpha = 1;
}

/** Draw the dashed path of an access that moves a line, from the start to the fraction `upTo` of the path. */
function way(easel: Easel, access: Access, upTo: number): void {
  const { pen, brushes, shade } = easel;
  const what = happening(access);
  if (what === 'upgrade') {
    upgradeWay(easel, access, upTo);
    return;
  }
  const both = ends(easel, access);
  if (both === null) return;
  const [from, to] = both;
  const rise = riseOf(easel, from, to);
  const alpha = pen.globalAlpha;
  pen.globalAlpha = alpha * shade(what);
  pen.strokeStyle = brushes.ways[what === 'fetch' ? 'fetch' : 'transfer'];
  pen.lineWidth = what === 'fetch' ? 1.5 : 2;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  const steps = rise === 0 ? 1 : 24;
  for (let i = 0; i <= steps; i++) {
    const { x, y } = along(from, to, (i / steps) * upTo, rise);
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  }
  pen.stroke();
  pen.setLineDash([]);
  if (upTo >= 1) arrow(easel, along(from, to, 0.96, rise), to, pen.strokeStyle as string);
  pen.globalAlpha = alpha;
}

function arrow({ pen }: Easel, from: Point, to: Point, colour: string): void {
  const turn = Math.atan2(to.y - from.y, to.x - from.x);
  const wing = (by: number): Point => ({
    x: to.x - 9 * Math.cos(turn + by),
    y: to.y - 9 * Math.sin(turn + by),
  });
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(to.x, to.y);
  for (const { x, y } of [wing(0.45), wing(-0.45)]) pen.lineTo(x, y);
  pen.fill();
}

/** Draw the message of an upgrade, which tells the other CPUs to drop their copies. The message carries no data. */
function upgradeWay(easel: Easel, access: Access, upTo: number): void {
  const { pen, drawing, shade } = easel;
  const alpha = pen.globalAlpha;
  pen.globalAlpha = alpha * shade('upgrade') * 0.9;
  pen.strokeStyle = drawing.theme.hazard;
  pen.lineWidth = 1.25;
  pen.setLineDash([1.5, 4]);
  pen.beginPath();
  for (const [from, to] of upgradeEnds(easel, access)) {
    pen.moveTo(from.x, from.y);
    pen.lineTo(from.x + (to.x - from.x) * upTo, to.y);
  }
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = alpha;
}

/** Draw the outline of a travelling line at its current position between two copies. */
function motion(easel: Easel, access: Access, part: number): void {
  const { laid, layout, pen, brushes, drawing, shade, shown } = easel;
  const what = happening(access);
  if (what === 'hit') return;
  const gone = between(part, beats.leaves, beats.comes);
  pen.globalAlpha = 1;
  way(easel, access, gone);
  if (what === 'upgrade') return;
  const both = ends(easel, access);
  const to = laid.cards[access.cpu]?.slots[access.line];
  if (both === null || to === undefined || gone <= 0 || part >= beats.lit) return;
  const { x, y } = along(both[0], both[1], gone, riseOf(easel, both[0], both[1]));
  const w = layout.strips ? to.w : Math.max(10, to.w);
  // At both ends the outline covers the copy. At a small copy, it touches the upper edge.
  const ghost = { x: x - w / 2, y: y - (both[1].y - to.y), w, h: to.h };
  const fade = 1 - between(part, beats.comes, beats.lit);
  pen.globalAlpha = fade * shade(what) * 0.92;
  pen.fillStyle = drawing.theme.paper;
  pen.fillRect(ghost.x, ghost.y, ghost.w, ghost.h);
  if (layout.strips && shown.struct !== null) strip(easel, ghost, access.line);
  pen.globalAlpha = fade * shade(what);
  const colour = brushes.ways[what === 'fetch' ? 'fetch' : 'transfer'];
  dashedBox(pen, ghost, colour, access.event === writeTransfer ? 3 : 2.5, [6, 4]);
  pen.globalAlpha = 1;
}
