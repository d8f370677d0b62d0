// SPDX-License-Identifier: GPL-2.0-or-later
/** The measured table as text for a mail: plain ASCII, 75 columns. Pure. */

import type { Lesson } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';

const width = 75;

function number(x: number | null | undefined): string {
  if (x === null || x === undefined) return '-';
  return x >= 100 ? String(Math.round(x)) : x.toPrecision(3);
}

/** Returns, for example, "umounts, umounts/s, higher is better". */
export function metricWords(measured: MeasuredMessage | null, lesson: Lesson): string {
  if (measured === null) return `untraced runs, ${lesson.operation.plural}`;
  const { title, better } = measured;
  const unit = measured.rows[0]?.unit ?? '';
  const what = unit === `${title}/s` ? [unit] : [title, unit];
  return [...what, ...(better === 'neither' ? [] : [`${better} is better`])].join(', ');
}

/** The command that measures a lesson. */
export function measureCommand(slug: string): string {
  return `./duet measure ${slug}`;
}

function wrap(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line.trim() !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
    }
    line += (line.trim() === '' ? '' : ' ') + word;
  }
  if (line.trim() !== '') lines.push(line);
  return lines;
}

function ascii(text: string): string {
  return text
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(/[\u2013\u2014]/g, '-')
    .replaceAll('\u00b5', 'u')
    .replaceAll('\u00d7', 'x')
    .replaceAll(/[^\x20-\x7e\n]/g, '?');
}

/** Break a command into several lines with backslashes. */
function shellLines(text: string): string[] {
  const lines: string[] = [];
  let line = ' ';
  // A quoted word is never split, because that would change the command.
  for (const word of text.match(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")+/g) ?? [text]) {
    if (line.length + word.length + 3 > width) {
      lines.push(`${line} \\`);
      line = '   ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

/** How a recorded table was made: keys of the kernels, checksums of their patches, compilers, and seeds. */
function madeOf(measured: MeasuredMessage): string[] {
  const { made } = measured;
  if (!made) return [];
  const starts = made.seeds.length ? [`perturbed starts: seeds ${made.seeds.join(' ')}`] : [];
  const kernels = made.arms.map((arm) => {
    const own = arm.patches.filter((p) => !/(^|\/)both(-[^/]*)?\//.test(p.path));
    const patches = own.map((p) => `${p.path.split('/').at(-1)} ${p.sha256.slice(0, 12)}`);
    const what = [arm.kernel, arm.key.slice(0, 12), `config ${arm.config_sha256.slice(0, 12)}`];
    const writes = arm.writes.map((line) => `written in the guest: ${line}`);
    return `kernel of ${arm.arm}: ${[...what.filter(Boolean), ...patches, ...writes].join(', ')}`;
  });
  const compilers = [...new Set(made.arms.map((arm) => arm.compiler))].filter(Boolean);
  return [...kernels, ...compilers, ...starts].flatMap((line) => wrap(line));
}

/** Source trees of a trial's kernels: their commits, and whether they had local changes. */
function sources(lesson: Lesson, measured: MeasuredMessage): string[] {
  const arms = lesson.arms.filter((arm) => measured.rows.some((row) => row.arm === arm.name));
  return arms.flatMap(({ name, source }) => {
    if (!source) return [];
    const commit = source.commit ? `commit ${source.commit.slice(0, 12)}` : 'no commit';
    const state = source.commit ? [source.dirty ? 'dirty' : 'clean'] : [];
    const what = [`Linux ${source.version}`, commit, source.describe, ...state];
    return wrap(`source of ${name}: ${what.filter(Boolean).join(', ')}`);
  });
}

export function mailText(lesson: Lesson, measured: MeasuredMessage): string {
  const params = Object.entries(measured.params).map(([k, v]) => `${k}=${v}`);
  const out: string[] = [
    ...wrap(metricWords(measured, lesson)),
    ...wrap(
      `workload ${measured.workload}, ${params.join(' ')}, clock ${measured.clock}, untraced, one kernel after the other, ${measured.at}${measured.source === 'recorded' ? ', recorded' : ''}`,
    ),
    ...(measured.host ? wrap(`host: ${measured.host}`) : []),
    ...madeOf(measured),
    ...sources(lesson, measured),
    '',
    `${'arm'.padEnd(16)}${'n'.padStart(3)}${'median'.padStart(10)}${'mean'.padStart(10)}${'95 % CI'.padStart(20)}${'change'.padStart(10)}`,
  ];
  for (const row of measured.rows) {
    const interval =
      row.ops_per_s_low == null || row.ops_per_s_high == null
        ? '-'
        : `${number(row.ops_per_s_low)} .. ${number(row.ops_per_s_high)}`;
    const change =
      row.change_percent == null
        ? '-'
        : `${row.change_percent > 0 ? '+' : ''}${row.change_percent.toFixed(1)} %`;
    out.push(
      `${row.arm.slice(0, 15).padEnd(16)}${String(row.n).padStart(3)}${number(row.ops_per_s_median).padStart(10)}${number(row.ops_per_s_mean).padStart(10)}${interval.padStart(20)}${change.padStart(10)}`,
    );
  }
  out.push('');
  for (const sentence of measured.warnings) out.push(...wrap(`WARNING: ${sentence}`));
  for (const row of measured.rows) if (row.verdict) out.push(...wrap(`${row.arm}: ${row.verdict}`));
  if (measured.verdict) out.push(...wrap(measured.verdict));
  out.push('', 'samples:');
  for (const row of measured.rows)
    out.push(...wrap(`${row.arm}: ${row.ops_per_s.map((x) => number(x)).join(' ')}`, '  '));
  const typed = measured.command;
  const first = lesson.made_by && lesson.made_by !== typed ? shellLines(lesson.made_by) : [];
  out.push('', 'to reproduce:', ...first, ...shellLines(typed));
  return ascii(`${out.join('\n')}\n`);
}
