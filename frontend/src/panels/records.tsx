// SPDX-License-Identifier: GPL-2.0-or-later
/** The drawer with the details of a mark: the data from which the mark was made, and the trace records around it. */

import { useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { formatNs, momentMs } from '../base/units.ts';
import type { Behind, BehindRow, TraceAsked } from '../derive/behind.ts';
import { list } from '../protocol/check.ts';
import { readRawEvent } from '../protocol/contract.checks.gen.ts';
import type { RawEvent } from '../protocol/contract.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { fetchChecked } from '../runs/saved-runs.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CrossIcon } from '../ui/parts.tsx';
import { evidenceName } from '../ui/words.ts';

type Records =
  | { readonly state: 'asking' }
  | { readonly state: 'here'; readonly events: readonly RawEvent[] }
  | { readonly state: 'failed'; readonly sentence: string };

interface Props {
  readonly lesson: Pick<Lesson, 'arms'>;
  readonly runId: string;
  /** The data from which the selected mark was made; null if no mark is selected. */
  readonly behind: Behind | null;
  readonly recorded: boolean;
  readonly onClose: () => void;
}

export function RecordsDialog({ lesson, runId, behind, recorded, onClose }: Props) {
  const arm = lesson.arms.find((a) => a.name === behind?.arm)?.title ?? '';
  return (
    <Dialog
      title={behind?.title ?? t('a mark')}
      side="right"
      open={behind !== null}
      onClose={onClose}
      testId="records"
    >
      {behind && (
        <>
          <p className="quiet">
            {[arm, behind.who, whenWords(behind)].filter(Boolean).join(' · ')}
            {behind.t1 > behind.t0 && (
              <>
                {' · '}
                <b>{formatNs(behind.t1 - behind.t0)}</b>
              </>
            )}
          </p>
          <p className="small" data-testid="records-how">
            <span className="evidence">{evidenceName(behind.evidence)}</span>{' '}
            {behind.how || t('A single event made this mark.')}
          </p>
          {behind.rows.length > 0 && <BehindTable rows={behind.rows} />}
          {behind.trace && (
            <Trace runId={runId} behind={behind} trace={behind.trace} recorded={recorded} />
          )}
        </>
      )}
    </Dialog>
  );
}

/** Describe the time of a mark. A mark without source rows has no time. */
function whenWords({ t0, t1, rows, trace }: Behind): string {
  if (rows.length === 0 && trace === null) return '';
  return t1 > t0 ? t('{t0} to {t1}', { t0: momentMs(t0), t1: momentMs(t1) }) : momentMs(t0);
}

function BehindTable({ rows }: { readonly rows: readonly BehindRow[] }) {
  return (
    <table className="table records" data-testid="behind">
      <caption className="hidden-text">{t('Data from which this mark was made')}</caption>
      <thead>
        <tr>
          <th scope="col" className="right">
            {t('ms')}
          </th>
          <th scope="col">{t('CPU')}</th>
          <th scope="col">{t('what')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list that is made once
          <tr key={i}>
            <td className="right">{exactMs(row.t)}</td>
            <td>{row.cpu < 0 ? '' : row.cpu}</td>
            <td>
              {row.what}
              <span className="fields">{row.fields}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface TraceProps {
  readonly runId: string;
  readonly behind: Behind;
  readonly trace: TraceAsked;
  readonly recorded: boolean;
}

/** The trace records around a mark, which are requested when the drawer opens. */
function Trace({ runId, behind, trace, recorded }: TraceProps) {
  const [records, setRecords] = useState<Records>({ state: 'asking' });
  const { arm } = behind;
  useEffect(() => {
    const stop = new AbortController();
    setRecords({ state: 'asking' });
    fetchRecords(runId, arm, trace, stop.signal).then(setRecords, () => {});
    return () => stop.abort();
  }, [runId, arm, trace]);
  const whose =
    trace.row !== undefined && behind.who !== ''
      ? t('of {who} ', { who: behind.who })
      : trace.cpu !== undefined
        ? t('of CPU {cpu} ', { cpu: trace.cpu })
        : '';
  return (
    <>
      <p className="small quiet records-whose">
        {t('{recorded}the trace records {whose}around {t}, as the kernel wrote them.', {
          recorded: recorded ? t('From the recording: ') : t('From the live guest: '),
          whose,
          t: momentMs(trace.t),
        })}
      </p>
      {records.state === 'asking' && <p className="quiet">{t('Loading the records…')}</p>}
      {records.state === 'failed' && (
        <p role="alert" className="error-line">
          <CrossIcon /> {records.sentence}
        </p>
      )}
      {records.state === 'here' && <TraceTable events={records.events} behind={behind} />}
    </>
  );
}

function TraceTable({
  events,
  behind,
}: {
  readonly events: readonly RawEvent[];
  readonly behind: Behind;
}) {
  if (events.length === 0)
    return (
      <p className="quiet">
        {t(
          'The server has no trace record for this lane: it stores a limited number and drops the oldest.',
        )}
      </p>
    );
  const made = (event: RawEvent) => madeIt(event, behind.rows);
  const first = Math.max(
    0,
    events.some(made) ? events.findIndex(made) : events.findIndex((e) => inside(e, behind)),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys
    <section className="records-trace" aria-label={t('Trace records')} tabIndex={0}>
      <table className="table records" data-testid="trace">
        <thead>
          <tr>
            <th scope="col" className="right">
              {t('ms')}
            </th>
            <th scope="col">{t('CPU')}</th>
            <th scope="col">{t('task')}</th>
            <th scope="col">{t('event')}</th>
          </tr>
        </thead>
        <tbody>
          {events.map((e, i) => (
            <tr
              // biome-ignore lint/suspicious/noArrayIndexKey: a list that came once
              key={i}
              ref={i === Math.max(0, first - 1) ? showRow : undefined}
              data-inside={inside(e, behind) ? '' : undefined}
              data-made={made(e) ? '' : undefined}
            >
              <td className="right">{exactMs(e.t_ns)}</td>
              <td>{e.cpu}</td>
              <td>{[e.task, e.tid].join(' ')}</td>
              <td>
                <code>{e.event}</code>
                {made(e) && (
                  <span className="hidden-text">{t(' one of the events listed above')}</span>
                )}
                <span className="fields">{fieldWords(e.fields)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Format a time in ms with the kernel's full precision. */
function exactMs(t: number): string {
  return (t / 1e6).toFixed(6);
}

function inside(event: RawEvent, { t0, t1 }: Behind): boolean {
  return event.t_ns >= t0 && event.t_ns <= t1;
}

/** Whether the mark was made from this event. */
function madeIt(event: RawEvent, rows: readonly BehindRow[]): boolean {
  return rows.some(({ t, cpu }) => t === event.t_ns && cpu === event.cpu);
}

/** Scroll the list to the start of the mark, without scrolling the drawer around it. */
function showRow(row: HTMLTableRowElement | null): void {
  const list = row?.closest('section');
  if (row && list) list.scrollTop = row.offsetTop - list.clientHeight / 3;
}

function fieldWords(fields: RawEvent['fields']): string {
  return Object.entries(fields)
    .map(([k, v]) => `${k}=${String(v)}`)
    .join(' ');
}

const readRawEvents = list(readRawEvent);

/** The server's address for a mark's trace records. */
export function recordsAddress(runId: string, arm: string, { t, row, cpu }: TraceAsked): string {
  const q = new URLSearchParams({
    around_ns: String(Math.round(t)),
    ...(row === undefined ? {} : { row: String(row) }),
    ...(cpu === undefined ? {} : { cpu: String(cpu) }),
    n: '50',
  });
  return `api/runs/${encodeURIComponent(runId)}/lanes/${encodeURIComponent(arm)}/events?${q}`;
}

async function fetchRecords(
  runId: string,
  arm: string,
  trace: TraceAsked,
  signal: AbortSignal,
): Promise<Records> {
  const site = siteOf();
  if (site !== null) return { state: 'failed', sentence: withoutServer(site.bundle) };
  try {
    const url = recordsAddress(runId, arm, trace);
    return { state: 'here', events: await fetchChecked(url, readRawEvents, { signal }) };
  } catch (cause) {
    if (signal.aborted) throw cause;
    return { state: 'failed', sentence: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** Only a server can decode raw records. An exported page names the recording's file instead. */
function withoutServer(bundle: string | null): string {
  const why = t('This page has no server, and only a server can decode raw records.');
  if (bundle === null) return why;
  return t(
    '{why} The records are in {bundle}, in the same folder: ./duet export {bundle} --to csv FOLDER lists them.',
    { why, bundle },
  );
}
