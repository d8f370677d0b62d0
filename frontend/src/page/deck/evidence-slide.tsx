// SPDX-License-Identifier: GPL-2.0-or-later
/** Slides with a step's charts, tables and patch, at the largest size that fits. */

import { Children, type ReactNode, useLayoutEffect, useMemo, useRef } from 'react';
import { t } from '../../base/lang/t.ts';
import { formatFigure } from '../../base/units.ts';
import { tableFor } from '../../derive/recording.ts';
import { paramWords } from '../../navigation/knobs.ts';
import { CountsPanel } from '../../panels/counts-panel.tsx';
import { metricWords } from '../../panels/mail.ts';
import { inTitles, onScreen, Samples, titleOf } from '../../panels/measured-panel.tsx';
import {
  type Hunk,
  litLines,
  openFunctions,
  otherEnd,
  type PatchFile,
  type PatchLine,
  parsePatch,
  readsBackwards,
  turned,
} from '../../panels/patch.ts';
import { usePlayback } from '../../playback/hooks.tsx';
import type { Lesson } from '../../protocol/lesson.ts';
import type { MeasuredMessage } from '../../protocol/messages.ts';
import { useMetrics } from '../../store/hooks.tsx';
import { day } from '../../ui/words.ts';
import { Latency, ViewPanels } from '../side-panel.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { type Limits, layOut, standing } from './pack.ts';
import type { Part } from './slides.ts';

// A slide's cards, at the largest scale at which all cards fit. Text is never smaller than on the lesson page.

const gap = 32;
const largest = 1.9;

interface CardsProps {
  readonly children: ReactNode;
  readonly columns: readonly number[];
  /** Minimum scale; cards that do not fit at this scale are omitted with a note. */
  readonly least: number;
  /** Whether the last card is optional; an optional card is omitted first. */
  readonly filler: boolean;
}

function Cards({ children, columns, least, filler }: CardsProps) {
  const box = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [outer, inner] = [box.current, sheet.current];
    if (outer === null || inner === null) return undefined;
    const limits: Limits = { least, most: largest, columns, gap };
    let before = '';
    const fill = () => {
      layOut(outer, inner, limits);
      before = standing(inner);
    };
    const observer = new ResizeObserver(fill);
    observer.observe(outer);
    // Charts that load late, and figures that need another line, change the cards' heights.
    // Changes that keep the heights of the cards need no new layout.
    const changes = new MutationObserver(() => {
      if (standing(inner) !== before) fill();
    });
    changes.observe(inner, { subtree: true, childList: true, characterData: true });
    fill();
    return () => {
      observer.disconnect();
      changes.disconnect();
    };
  }, [columns, least]);
  const cards = Children.toArray(children);
  return (
    <div ref={box} className="fit">
      <div ref={sheet} className="fit-content deck-cards">
        {cards.map((card, i) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: the cards of a slide never move
            key={i}
            className="deck-card"
            data-filler={filler && i === cards.length - 1 ? '' : undefined}
          >
            {card}
          </div>
        ))}
      </div>
    </div>
  );
}

// Shortens the verdicts of a measured table so that they fit into its rows. Pure.

type Row = MeasuredMessage['rows'][number];

/**
 * Maximum length of a verdict in a table cell, in characters. A longer text explains why there is no verdict, and is
 * listed below the table.
 */
const shortest = 24;

/** The text of a verdict cell: "-89.9 %, worse", "no difference proven" or "no verdict"; empty in the baseline row. */
function verdictOf(row: Row, better: MeasuredMessage['better']): string {
  if (row.verdict) return row.verdict.length <= shortest ? row.verdict : t('no verdict');
  const change = row.change_percent;
  if (change === null || change === undefined) return '';
  const gains = better === 'higher' ? change > 0 : better === 'lower' ? change < 0 : null;
  const sign = change > 0 ? '+' : change < 0 ? '−' : '';
  const words = `${sign}${Math.abs(change).toFixed(1)} %`;
  return gains === null ? words : `${words}, ${gains ? 'better' : 'worse'}`;
}

/** The reasons for missing verdicts, without repetitions, and a warning if arms differ in more than one patch. */
function reasonsOf({ rows, warnings }: Pick<MeasuredMessage, 'rows' | 'warnings'>) {
  const long = rows.map((row) => row.verdict ?? '').filter((words) => words.length > shortest);
  const reasons = [...new Set(long)].map((words) => t('No verdict: {words}.', { words }));
  return [
    ...reasons,
    ...warnings.map((words) => t('More than one patch differs: {words}', { words })),
  ];
}

// The measured table on a projector: one verdict per row. The lesson page and the terminal show intervals too.

interface MeasuredPartProps {
  readonly lesson: Lesson;
  readonly measured: MeasuredMessage | null;
}

function MeasuredPart({ lesson, measured }: MeasuredPartProps) {
  const rows = measured?.rows ?? [];
  const most = Math.max(1, ...rows.flatMap((r) => [...r.ops_per_s, r.ops_per_s_median ?? 0]));
  const base = rows.find((row) => row.to)?.to ?? null;
  if (measured === null || rows.length === 0)
    return (
      <section className="panel" aria-label={t('Measured')} data-testid="measured">
        <h3 className="eyebrow">{onScreen(metricWords(measured, lesson))}</h3>
        <p className="quiet">{t('Nothing has been measured with these knobs yet.')}</p>
      </section>
    );
  return (
    <section className="panel" aria-label={t('Measured')} data-testid="measured">
      <h3 className="eyebrow">
        {onScreen(metricWords(measured, lesson))}{' '}
        <span className="evidence">
          {measured.clock === 'count' ? t('counted') : t('measured')}
        </span>
        {measured.source === 'recorded' && (
          <span className="evidence" data-recorded>
            {t('recorded {at}', { at: day(measured.at) })}
          </span>
        )}
      </h3>
      <table className="table measured-table">
        <thead>
          <tr>
            <th scope="col">{t('kernel')}</th>
            <th scope="col" className="right">
              {t('median')}
            </th>
            <th scope="col">{t('all samples')}</th>
            {base !== null && (
              <th scope="col">{t('against {lesson}', { lesson: titleOf(lesson, base) })}</th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.arm}>
              <th scope="row">{titleOf(lesson, row.arm)}</th>
              <td className="right strong">
                {row.ops_per_s_median === null ? t('refused') : formatFigure(row.ops_per_s_median)}
              </td>
              <td>
                <Samples values={row.ops_per_s} most={most} median={row.ops_per_s_median} />
              </td>
              {base !== null && <td>{verdictOf(row, measured.better)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {reasonsOf(measured).map((reason) => (
        <p key={reason} className="verdict" data-testid="verdict">
          {inTitles(lesson, reason)}
        </p>
      ))}
      <p className="small quiet">
        {t('{list}, {clock} clock, untraced, one kernel after the other, {n} runs each', {
          list: [measured.workload, ...paramWords(lesson, measured.params)].join(', '),
          clock: measured.clock,
          n: rows[0]?.n,
        })}
      </p>
    </section>
  );
}

// The part of a patch that fits on a slide: the relevant hunks, shortened if they have too many lines. Pure.

interface ExcerptHunk {
  readonly path: string;
  readonly where: string;
  readonly lines: readonly PatchLine[];
  /** Whether some lines of the hunk are omitted. */
  readonly cut: boolean;
}

export interface Excerpt {
  readonly hunks: readonly ExcerptHunk[];
  /** Number of changed lines of the patch that are omitted. */
  readonly left: number;
}

/** Height of a hunk's heading, in lines. */
const headLines = 2;
const leastLines = 4;

/**
 * Select at most `room` lines of a patch, in the patch's order. The lines come from hunks in which `matters` accepts a
 * line, or from all hunks if `matters` accepts no line. Hunks that add more lines are preferred.
 */
export function excerptOf(
  files: readonly PatchFile[],
  matters: (line: PatchLine) => boolean,
  room: number,
): Excerpt {
  const whole = files.flatMap((file) => file.hunks.map((hunk) => ({ path: file.path, hunk })));
  const these = whole.filter(({ hunk }) => hunk.lines.some(matters));
  const all = these.length > 0 ? these : whole;
  const weight = ({ hunk }: { hunk: Hunk }) => hunk.lines.filter((l) => l.sign === '+').length;
  const chosen = new Map<Hunk, ExcerptHunk>();
  let left = room;
  for (const { path, hunk } of all.toSorted((a, b) => weight(b) - weight(a))) {
    const lines = cutTo(hunk.lines, matters, left - headLines);
    if (lines.length === 0) continue;
    left -= lines.length + headLines;
    chosen.set(hunk, { path, where: hunk.where, lines, cut: lines.length < hunk.lines.length });
  }
  const hunks = all.flatMap(({ hunk }) => chosen.get(hunk) ?? []);
  const changed = (lines: readonly PatchLine[]) => lines.filter((l) => l.sign !== ' ').length;
  const sum = (of: readonly { lines: readonly PatchLine[] }[]) =>
    of.reduce((n, { lines }) => n + changed(lines), 0);
  return { hunks, left: sum(whole.map(({ hunk }) => hunk)) - sum(hunks) };
}

/**
 * Shorten a hunk to `room` lines around the lines that matter. If no line matters, keep the lines around the first
 * changed line.
 */
function cutTo(
  lines: readonly PatchLine[],
  matters: (line: PatchLine) => boolean,
  room: number,
): readonly PatchLine[] {
  if (lines.length <= room) return lines;
  if (room < leastLines) return [];
  const marks = lines.flatMap((line, i) => (matters(line) ? [i] : []));
  const within = (from: number) => marks.filter((i) => i >= from && i < from + room).length;
  // Choose the part of the hunk that contains the most lines that matter.
  // If several parts of the hunk contain equally many, choose the last part, because it is the deepest call.
  const around = marks.length > 0 ? marks : [lines.findIndex((line) => line.sign !== ' ')];
  const views = around.map((i) =>
    Math.max(0, Math.min(i - Math.floor(room / 2), lines.length - room)),
  );
  const from = views.reduce((best, at) => (within(at) >= within(best) ? at : best), views[0] ?? 0);
  return lines.slice(from, from + room);
}

/** Maximum length of the excerpt of a patch's message next to the patch, in characters. */
const mostWords = 900;

/** The first paragraphs of a patch's message, as plain text. */
export function messageOf(body: string): readonly string[] {
  let left = mostWords;
  const paragraphs: string[] = [];
  for (const paragraph of body.split(/\n\s*\n/)) {
    // Skip tables and commands (indented lines) and trailers.
    if (paragraph === '' || /^\s|^[\w-]+: /.test(paragraph)) continue;
    left -= paragraph.length;
    if (left < 0 && paragraphs.length > 0) break;
    paragraphs.push(paragraph.replace(/\s+/g, ' ').trim());
  }
  return paragraphs;
}

// The relevant part of a patch, for a projector. A line is highlighted while its function runs.

interface PatchPartProps {
  readonly page: LessonModel;
  readonly arm: string;
  /** Text fragments that select the lines to show. If there are none, the lines that are being executed are shown. */
  readonly at: readonly string[];
  /** Number of patch lines that fit on the slide. */
  readonly room: number;
}

function PatchPart({ page: { lesson, index }, arm: name, at, room }: PatchPartProps) {
  const arm = lesson.arms.find((one) => one.name === name);
  const { state } = usePlayback();
  const spans = useMetrics(name)?.spans;
  const other = (arm && otherEnd(lesson, arm)?.name) ?? null;
  const back = arm !== undefined && readsBackwards(arm);
  const files = useMemo(() => {
    const written = (arm?.patch_texts ?? []).flatMap((patch) => parsePatch(patch.text));
    return back ? turned(written) : written;
  }, [arm, back]);
  const lits = useMemo(
    () =>
      back
        ? litLines(lesson.lit, other ?? '', name, files)
        : litLines(lesson.lit, name, other, files),
    [lesson, name, other, back, files],
  );
  const kinds = useMemo(() => new Set(lesson.lit.map((lit) => lit.kind)), [lesson]);
  const open = useMemo(
    () => new Map([name, other ?? ''].map((one) => [one, openFunctions(index, state, one, kinds)])),
    [index, state, name, other, kinds],
  );
  const occurs = (kind: string) => spans === undefined || (spans[kind] ?? 0) > 0;
  const named = (line: ExcerptHunk['lines'][number]) => at.some((text) => line.text.includes(text));
  const runs = (line: ExcerptHunk['lines'][number]) => occurs(lits.get(line)?.lit.kind ?? '—');
  const excerpt = excerptOf(files, at.length > 0 ? named : runs, room);
  const colour = (kind: string) => lesson.kinds.find((k) => k.name === kind)?.colour ?? 'work';
  const lit = (line: ExcerptHunk['lines'][number]) => {
    const found = lits.get(line);
    if (found === undefined || !open.get(found.arm)?.get(found.lit.kind)) return undefined;
    return colour(found.lit.kind);
  };
  return (
    <section
      className="panel patch"
      aria-label={t('Patch of {title}', { title: arm?.title ?? name })}
      data-testid="patch"
    >
      <h3 className="eyebrow">
        {arm?.title}: {arm?.summary}
      </h3>
      {excerpt.hunks.map((hunk, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: hunks of one patch never move
        <div key={n} className="patch-file">
          <p className="patch-path">
            <code>{hunk.path}</code>
            <code>{hunk.where}</code>
          </p>
          <pre>
            {hunk.lines.map((line, i) => (
              <span
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of one hunk never move
                key={i}
                className="patch-line"
                data-sign={line.sign}
                data-lit={lit(line)}
                data-named={named(line) ? '' : undefined}
              >
                <i>{line.sign === '-' ? '−' : line.sign}</i>
                {line.text || ' '}
              </span>
            ))}
          </pre>
        </div>
      ))}
      {excerpt.left > 0 && (
        <p className="small quiet">
          {t(
            '{left, plural, one {# more changed line} other {# more changed lines}}: the lesson’s page has the whole patch.',
            { left: excerpt.left },
          )}
        </p>
      )}
    </section>
  );
}

/** The patch's message, shown next to its lines. */
function PatchMessage({ page: { lesson }, arm: name }: Pick<PatchPartProps, 'page' | 'arm'>) {
  const arm = lesson.arms.find((one) => one.name === name);
  const { subject, body } = arm?.patch_texts.at(-1) ?? { subject: '', body: '' };
  return (
    <section className="patch-message" aria-label={t('Message of the patch')}>
      <h3>{subject}</h3>
      {messageOf(body).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </section>
  );
}

/**
 * Maximum number of patch lines on a slide in three cases: next to the patch's message, next to other parts, and alone
 * in larger text.
 */
const [patchLines, patchLinesBeside, patchLinesAlone] = [25, 16, 18];
/** Minimum scale of text: at this scale, 13 px on the page becomes 20 px at 1920x1080. */
const smallest = 1;
/** Minimum scale of printed text. It is lower than on a screen, so that nothing has to be omitted. */
const smallestOnPaper = 0.75;

const [oneOrTwo, all] = [
  [1, 2],
  [1, 2, 3],
] as const;

interface EvidenceSlideProps {
  readonly page: LessonModel;
  readonly parts: readonly Part[];
  readonly paper: boolean;
}

export function EvidenceSlide({ page, parts, paper }: EvidenceSlideProps) {
  const cards = parts.flatMap((part) => cardsOf(page, part, parts));
  // Lines of code need half of the slide's width.
  const patched = parts.some((part) => part.what === 'patch');
  const columns = patched ? oneOrTwo : all;
  return (
    <Cards
      key={`${page.scene.id} ${cards.length}`}
      columns={columns}
      least={paper ? smallestOnPaper : smallest}
      filler={parts.length > 1 && parts.at(-1)?.what === 'counts'}
    >
      {cards}
    </Cards>
  );
}

function cardsOf(page: LessonModel, part: Part, parts: readonly Part[]) {
  const { lesson, scene, index, theme, recorded, server, actions } = page;
  switch (part.what) {
    case 'patch': {
      const { arm, at, first } = part;
      const beside = parts.length > 1;
      const room = beside ? patchLinesBeside : first ? patchLines : patchLinesAlone;
      const lines = <PatchPart key={arm} page={page} arm={arm} at={at} room={room} />;
      // The patch's message is shown only on the first slide that shows the patch.
      const said = first && !beside;
      return said ? [lines, <PatchMessage key="message" page={page} arm={arm} />] : [lines];
    }
    case 'panel':
      return [
        <ViewPanels
          key={part.name}
          {...{ lesson, scene, index, recorded, theme }}
          onKnob={actions.turnOne}
          only={part.name}
        />,
      ];
    case 'latency':
      return [<Latency key="latency" {...{ lesson, index, recorded, theme }} />];
    case 'measured': {
      const table = tableFor(server.measured, lesson, scene, actions.knobs);
      // A table without rows is omitted if the slide has other parts.
      if (parts.length > 1 && (table?.rows.length ?? 0) === 0) return [];
      return [<MeasuredPart key="measured" lesson={lesson} measured={table} />];
    }
    case 'counts':
      return [<CountsPanel key="counts" lesson={lesson} arms={page.arms} recorded={recorded} />];
  }
}
