// SPDX-License-Identifier: GPL-2.0-or-later
/** The struct byte by byte: lines as boxes, fields with their names, letters of the live name, and what is accessed. */

import { t } from '../../base/lang/t.ts';
import { type Box, brushAccess } from './brush.ts';
import { runsOf } from './byte-runs.ts';
import { beats, between, type Easel, write } from './easel.ts';
import { lineBytes, type Struct } from './fields.ts';
import { byteBoxes } from './layout.ts';
import { type Access, accessAt, happening } from './now.ts';
import { noObject } from './refusal.ts';

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

/** The box of 64 bytes, and its number. */
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
        // A field that is painted in two ways has its name over the first, and again where it goes on in another row.
        const goesOn = i === 0 && at % layout.perRow > 0 && struct.fieldAt[at - 1] === field;
        const name = struct.fields[field]?.name ?? '';
        const strong = kind === 'count' ? drawing.theme.mechanism : undefined;
        if (name !== '' && !goesOn) label(easel, name, x, y, w, strong);
      }
    }
  }
}

/** Byte by byte, where a byte is wide enough to be seen. */
function ticks({ pen, layout, drawing }: Easel, { x, y, w, h }: Box): void {
  if (layout.cell < 6) return;
  const before = pen.globalAlpha;
  pen.globalAlpha = before * 0.5;
  pen.fillStyle = drawing.theme.staff;
  for (let at = layout.cell; at < w - 1; at += layout.cell) pen.fillRect(x + at, y + h - 5, 1, 4);
  pen.globalAlpha = before;
}

/** Between the names of two fields, px. */
const gap = 5;

/** The field's name over its bytes, as far as there is room; a word that does not fit is left out. */
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
  // A little smaller where it would touch the next one.
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

/** Accesses after which bytes go on to glow. */
const glow = 4;

interface Lit {
  readonly access: Access;
  readonly alpha: number;
}

/** What is lit at the moment, the newest last: the access under way, and the few before it. */
export function lit({ shown }: Pick<Easel, 'shown'>): Lit[] {
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
