// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The measured table. It contains only untraced runs of one kernel after the other. It does not depend on the run in
 * the picture.
 */

import { rich, t } from '../base/lang/t.ts';
import { formatFigure } from '../base/units.ts';
import { paramWords } from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { useDenied } from '../store/hooks.tsx';
import { off, useCopy } from '../ui/parts.tsx';
import { day } from '../ui/words.ts';
import { mailText, measureCommand, metricWords } from './mail.ts';
import { Inline } from './prose.tsx';

// Replaces kernels' names by their titles in the server's sentences. Pure.

export function titleOf(lesson: Pick<Lesson, 'arms'>, arm: string): string {
  return lesson.arms.find((one) => one.name === arm)?.title ?? arm;
}

/**
 * Replace names by titles in a verdict or a warning. A name that is also an ordinary word, such as `before`, is
 * replaced only in comparisons.
 */
export function inTitles(lesson: Pick<Lesson, 'arms'>, sentence: string): string {
  const names = lesson.arms.map((arm) => arm.name).sort((a, b) => b.length - a.length);
  if (names.length === 0) return sentence;
  const any = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const name = new RegExp(`(?<![\\w-])(${any})(?![\\w-])`, 'g');
  return sentence.replaceAll(name, (found: string, _name: string, at: number) => {
    const [before, after] = [sentence.slice(0, at), sentence.slice(at + found.length)];
    const compared = /against $/.test(before) || /^ ([-+]?\d|against )/.test(after);
    return /[-\d]/.test(found) || compared ? titleOf(lesson, found) : found;
  });
}

// Verdicts for the screen: one line per kernel, without repetitions. Mails contain the plain ASCII form. Pure.

/** Replace the server's ASCII by typographic characters: a minus sign before numbers, and "µs". */
export function onScreen(text: string): string {
  return text.replace(/(?<=^|\s)-(?=\d)/g, '−').replace(/\bus\b/g, 'µs');
}

/**
 * Split the server's verdict into one part per kernel. Each part ends with the basis of its verdict, or states that
 * there is no verdict.
 */
export function verdictLines(verdict: string): string[] {
  const lines = verdict.split(/(?<=\)\.) |(?<=\.) (?=No verdict)/);
  return lines.filter((line) => line !== '').map(onScreen);
}

type Row = MeasuredMessage['rows'][number];

/** Rows of the table whose notes are not already part of the verdict above the table. */
export function rowsBeyond(measured: Pick<MeasuredMessage, 'rows' | 'verdict'>): readonly Row[] {
  const { rows, verdict } = measured;
  return rows.filter((row) => row.verdict && !(verdict ?? '').includes(row.verdict));
}

// Copies a measured table as text for a mail. If the clipboard is unavailable, it shows the text instead.

function CopyMail({ lesson, measured }: { lesson: Lesson; measured: MeasuredMessage }) {
  const [copied, copy] = useCopy(null);
  const text = mailText(lesson, measured);
  return (
    <>
      <button type="button" className="button" data-testid="copy-mail" onClick={() => copy(text)}>
        {copied === 'copied' ? t('copied') : t('copy as mail')}
      </button>
      {copied === 'refused' && (
        <pre className="console" data-testid="mail-text">
          {text}
        </pre>
      )}
    </>
  );
}

interface Props {
  readonly lesson: Lesson;
  readonly measured: MeasuredMessage | null;
  /** Why measuring is not possible now; empty if it is possible. */
  readonly blocked: string;
  readonly onMeasure: () => void;
}

export function MeasuredPanel({ lesson, measured, blocked, onMeasure }: Props) {
  const denied = useDenied('measure');
  const busy = measured !== null && measured.done < measured.total;
  const most = Math.max(
    1,
    ...(measured?.rows ?? []).flatMap((r) => [...r.ops_per_s, r.ops_per_s_median ?? 0]),
  );
  const rows = measured?.rows ?? [];
  return (
    <section className="panel" aria-label={t('Measured')} data-testid="measured">
      <h3 className="eyebrow">
        {onScreen(metricWords(measured, lesson))}{' '}
        {rows.length > 0 && (
          <span className="evidence">
            {measured?.clock === 'count' ? t('counted') : t('measured')}
          </span>
        )}
        {measured?.source === 'recorded' && (
          <span className="evidence" data-recorded>
            {t('recorded {at}', { at: day(measured.at) })}
          </span>
        )}
      </h3>
      {rows.length === 0 ? (
        <NoTable lesson={lesson} busy={busy} />
      ) : (
        <table className="table measured-table">
          <thead>
            <tr>
              <th scope="col">{t('kernel')}</th>
              <th scope="col" className="right" title={t('runs of each kernel')}>
                n
              </th>
              <th scope="col" className="right">
                {t('median of n')}
              </th>
              <th scope="col">{t('all samples')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.arm}>
                <th scope="row">{titleOf(lesson, row.arm)}</th>
                <td className="right">{row.n}</td>
                <td className="right strong">
                  {row.ops_per_s_median === null
                    ? t('refused')
                    : formatFigure(row.ops_per_s_median)}
                </td>
                <td>
                  <Samples values={row.ops_per_s} most={most} median={row.ops_per_s_median} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {measured?.warnings.map((sentence) => (
        <p key={sentence} className="verdict" data-testid="measured-warning">
          <b>{t('More than one patch differs')}</b>: {inTitles(lesson, sentence)}
        </p>
      ))}
      {measured &&
        rowsBeyond(measured).map((row) => (
          <p key={row.arm} className="verdict" data-testid="verdict">
            <b>{titleOf(lesson, row.arm)}</b>: {row.verdict}
          </p>
        ))}
      {measured?.verdict &&
        verdictLines(inTitles(lesson, measured.verdict)).map((line) => (
          <p key={line} className="verdict" data-testid="verdict">
            {line}
          </p>
        ))}
      {measured && rows.length > 0 && (
        <p className="small quiet">
          {rich('{list}, {clock} clock, untraced, one kernel after the other{more}', {
            list: [measured.workload, ...paramWords(lesson, measured.params)].join(', '),
            clock: measured.clock,
            more: measured.verdict && `. ${rangeWords[measured.clock]}`,
          })}
        </p>
      )}
      {busy && (
        <div className="measuring" data-testid="measuring">
          <p className="small">
            {t('Measuring: {done} of {total, plural, one {# run} other {# runs}}', {
              done: measured.done,
              total: measured.total,
            })}
          </p>
          <div className="meter">
            <span style={{ width: `${(100 * measured.done) / Math.max(1, measured.total)}%` }} />
          </div>
        </div>
      )}
      <div className="row-of-buttons">
        {measured && rows.length > 0 && <CopyMail lesson={lesson} measured={measured} />}
        {denied === '' && (
          <button
            type="button"
            className="button"
            onClick={onMeasure}
            data-testid="measure"
            {...off(blocked || (busy && 'A measurement is going on.'))}
          >
            {t('measure now')}
          </button>
        )}
      </div>
      {denied !== '' && (
        <p className="small quiet" data-testid="measure-denied">
          {denied}
        </p>
      )}
      {measured && rows.length > 0 && (
        <details className="small">
          <summary>{t('the command that repeats this measurement')}</summary>
          <pre className="console">{measured.command}</pre>
        </details>
      )}
    </section>
  );
}

/** Explains why there is no table, and what to do. */
function NoTable({ lesson, busy }: { readonly lesson: Lesson; readonly busy: boolean }) {
  if (busy) return <p className="quiet">{t('The first rows are being measured.')}</p>;
  if (lesson.no_table !== '')
    return (
      <p className="small" data-testid="no-table">
        <b>{t('This lesson deliberately has no table.')}</b> <Inline text={lesson.no_table} />
      </p>
    );
  const recorded = lesson.measured.length > 0;
  return (
    <p className="small" data-testid="no-table">
      {rich(
        '{recorded} The picture’s run is traced, so its times are not a measurement. <i>Measure now</i> runs the kernels untraced, one after the other, with the current knobs. In a terminal, <code>{slug}</code> does the same.',
        {
          recorded: recorded
            ? t('No recorded table covers all kernels of this step.')
            : t('No table of untraced runs is recorded for this lesson.'),
          i: (words) => <i>{words}</i>,
          slug: measureCommand(lesson.slug),
          code: (words) => <code>{words}</code>,
        },
      )}
    </p>
  );
}

/** For each clock, a text that explains the basis of a verdict. */
const rangeWords: Readonly<Record<MeasuredMessage['clock'], string>> = {
  count: t(
    'An instruction takes 1 ns. A perturbed start uses a different random seed. The verdict compares the medians over all starts, and gives the range of all observed ratios between the kernels.',
  ),
  wall: t(
    'n is the number of runs of each kernel. The 95 % interval is for the ratio between the kernels’ medians.',
  ),
};

/** Draws every sample as a dot and the median as a bar. All arms share one scale that starts at zero. */
export function Samples(props: {
  readonly values: readonly number[];
  readonly median: number | null;
  readonly most: number;
}) {
  const { values, median, most } = props;
  const x = (v: number) => 3 + (v / most) * 94;
  return (
    <svg
      className="samples"
      viewBox="0 0 100 16"
      preserveAspectRatio="none"
      role="img"
      aria-label={values.map((v) => formatFigure(v)).join(', ')}
    >
      <title>{values.map((v) => formatFigure(v)).join(', ')}</title>
      {median !== null && (
        <rect x="0" y="5" width={x(median)} height="6" fill="var(--work)" opacity="0.28" />
      )}
      {values.map((v, i) => (
        <line
          // biome-ignore lint/suspicious/noArrayIndexKey: samples of one table never move
          key={i}
          x1={x(v)}
          x2={x(v)}
          y1="2"
          y2="14"
          stroke="var(--work)"
          strokeWidth="1"
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </svg>
  );
}
