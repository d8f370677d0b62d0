// SPDX-License-Identifier: GPL-2.0-or-later
/** What lies one click away: the keys, the caveats, the questions, a mark's raw records. */

import { useEffect, useState } from 'react';
import { siteOf } from '../base/site.ts';
import { formatNs, momentMs } from '../base/units.ts';
import type { Key } from '../controls/keyboard.ts';
import type { Mark } from '../derive/types.ts';
import { list } from '../protocol/check.ts';
import { readRawEvent } from '../protocol/contract.checks.gen.ts';
import type { RawEvent } from '../protocol/contract.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { ask } from '../runs/saved-list.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CrossIcon } from '../ui/icons.tsx';
import { saveFile } from './recap/save-file.ts';
import { Terms } from './terms/terms.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export function HelpDialog({
  keys,
  open,
  onClose,
}: DialogProps & { readonly keys: readonly Key[] }) {
  return (
    <Dialog title="Keys" open={open} onClose={onClose} testId="help">
      <dl className="keys">
        {keys.map((key) => (
          <div key={key.act}>
            <dt>
              <kbd>{key.shown}</kbd>
            </dt>
            <dd>{key.what}</dd>
          </div>
        ))}
      </dl>
      <p className="small quiet">
        A click on a mark shows its raw records. A click on the overview moves the window. On a time
        axis the wheel or a pinch zooms (with Ctrl where the page scrolls), a drag or a wheel to the
        side moves the window, and Shift with a drag selects one.
      </p>
    </Dialog>
  );
}

export function CaveatDialog({ lesson, open, onClose }: DialogProps & { readonly lesson: Lesson }) {
  return (
    <Dialog
      title="What you should not conclude"
      open={open}
      onClose={onClose}
      testId="caveats-sheet"
    >
      <ul className="caveats">
        {lesson.caveats.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Dialog>
  );
}

interface QuestionProps {
  readonly lesson: Lesson;
  /** The viewer's answers as a file. */
  readonly file: () => string;
  readonly answered: readonly number[];
  /** The question that waits for a mark. */
  readonly asking: number | null;
  /** What the last pointing said of the question that is asked. */
  readonly said: string;
  readonly onAsk: (index: number | null) => void;
  readonly onForget: () => void;
  /** The step on the stage. */
  readonly scene: string;
  /** Go to a step, and ask the question there. */
  readonly onStep: (step: string, index: number) => void;
}

/** Lies in the story column, so that the stage stays free to be pointed at. */
export function Questions(props: QuestionProps) {
  const { lesson, answered, asking, said } = props;
  return (
    <section className="card questions" aria-label="Questions" data-testid="questions">
      <header>
        <h3>Answer by pointing</h3>
        <button type="button" className="link" onClick={() => props.onAsk(null)}>
          close
        </button>
      </header>
      <ol>
        {lesson.questions.map((q, i) => {
          const done = answered.includes(i);
          return (
            <li key={q.ask} data-asking={asking === i ? '' : undefined}>
              <button
                type="button"
                className="question"
                aria-pressed={asking === i}
                onClick={() => props.onAsk(i)}
                data-testid={`question-${i}`}
              >
                <span aria-hidden="true">{done ? '✓' : i + 1}</span>
                {q.ask}
              </button>
              {done && (
                <p className="small quiet why">
                  <Terms text={q.why} />
                </p>
              )}
              {!done && q.step !== props.scene && (
                <button
                  type="button"
                  className="link small"
                  onClick={() => props.onStep(q.step, i)}
                  data-testid={`question-step-${i}`}
                >
                  its picture: “{lesson.scenes.find((one) => one.id === q.step)?.title}”
                </button>
              )}
              {asking === i && !done && (
                <p className="small" role="status" data-testid="answer">
                  {said || 'Click on a mark in the picture.'}
                </p>
              )}
            </li>
          );
        })}
      </ol>
      {answered.length > 0 && (
        <p className="question-links">
          <button
            type="button"
            className="link small"
            onClick={() => saveFile(`${lesson.slug}-answers.json`, props.file())}
            data-testid="download-answers"
          >
            download my answers
          </button>{' '}
          <button type="button" className="link small" onClick={props.onForget}>
            start again
          </button>
        </p>
      )}
    </section>
  );
}

/** One raw record as the server sends it; every field may be missing in an older server. */
type Records =
  | { readonly state: 'asking' }
  | { readonly state: 'here'; readonly events: readonly RawEvent[] }
  | { readonly state: 'failed'; readonly sentence: string };

interface RecordsProps {
  readonly lesson: Lesson;
  readonly runId: string;
  /** Its times are guest times. */
  readonly mark: Mark | null;
  readonly rowName: string;
  readonly recorded: boolean;
  readonly onClose: () => void;
}

/** The raw records around a mark, asked from the server when it is opened. */
export function RecordsDialog({ lesson, runId, mark, rowName, recorded, onClose }: RecordsProps) {
  const [records, setRecords] = useState<Records>({ state: 'asking' });
  useEffect(() => {
    if (!mark) return;
    const stop = new AbortController();
    setRecords({ state: 'asking' });
    fetchRecords(runId, mark, stop.signal).then(setRecords, () => {});
    return () => stop.abort();
  }, [runId, mark]);
  const kind = mark ? lesson.kinds[mark.kind] : undefined;
  const arm = lesson.arms.find((a) => a.name === mark?.arm);
  const what = mark?.table === 'ops' ? `one ${lesson.operation.name}` : (kind?.title ?? 'a mark');
  return (
    <Dialog title={what} side="right" open={mark !== null} onClose={onClose} testId="records">
      {mark && (
        <>
          <p className="quiet">
            {[arm?.title, rowName, whenWords(mark)].filter(Boolean).join(' · ')}
            {mark.t1 > mark.t0 && (
              <>
                {' · '}
                <b>{formatNs(mark.t1 - mark.t0)}</b>
              </>
            )}
          </p>
          <p className="small quiet">
            <span className="evidence">{kind?.evidence ?? 'counted'}</span>{' '}
            {recorded ? 'from the recording, ' : 'from the live guest, '}the trace records around
            its beginning, as the kernel wrote them
          </p>
          {records.state === 'asking' && <p className="quiet">Asking for the records…</p>}
          {records.state === 'failed' && (
            <p role="alert" className="error-line">
              <CrossIcon /> {records.sentence}
            </p>
          )}
          {records.state === 'here' && <RecordTable events={records.events} mark={mark} />}
        </>
      )}
    </Dialog>
  );
}

function whenWords({ t0, t1 }: Mark): string {
  return t1 > t0 ? `${momentMs(t0)} to ${momentMs(t1)}` : momentMs(t0);
}

function RecordTable({ events, mark }: { events: readonly RawEvent[]; mark: Mark }) {
  const first = events.findIndex((e) => inside(e, mark));
  if (events.length === 0) return <p className="quiet">No raw record is kept for this moment.</p>;
  return (
    <table className="table records">
      <thead>
        <tr>
          <th scope="col" className="right">
            ms
          </th>
          <th scope="col">CPU</th>
          <th scope="col">task</th>
          <th scope="col">event</th>
        </tr>
      </thead>
      <tbody>
        {events.map((e, i) => (
          <tr
            // biome-ignore lint/suspicious/noArrayIndexKey: a list that came once
            key={i}
            ref={i === Math.max(0, first - 1) ? showRow : undefined}
            data-inside={inside(e, mark) ? '' : undefined}
          >
            <td className="right">{e.t_ns === undefined ? '' : (e.t_ns / 1e6).toFixed(6)}</td>
            <td>{e.cpu}</td>
            <td>{[e.task, e.tid].filter((x) => x !== undefined).join(' ')}</td>
            <td>
              <code>{e.event}</code>
              <span className="fields">{fieldWords(e.fields)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inside(event: RawEvent, mark: Mark): boolean {
  return event.t_ns !== undefined && event.t_ns >= mark.t0 && event.t_ns <= mark.t1;
}

/** The list opens where the mark begins. */
function showRow(row: HTMLTableRowElement | null): void {
  row?.scrollIntoView?.({ block: 'center' });
}

function fieldWords(fields: RawEvent['fields']): string {
  return Object.entries(fields ?? {})
    .map(([k, v]) => `${k}=${typeof v === 'object' ? JSON.stringify(v) : String(v)}`)
    .join(' ');
}

const readRawEvents = list(readRawEvent);

async function fetchRecords(runId: string, mark: Mark, signal: AbortSignal): Promise<Records> {
  const site = siteOf();
  if (site !== null) return { state: 'failed', sentence: withoutServer(site.bundle) };
  const q = new URLSearchParams({
    around_ns: String(Math.round(mark.t0)),
    ...(mark.row >= 0 ? { row: String(mark.row) } : {}),
    n: '50',
  });
  const url = `api/runs/${encodeURIComponent(runId)}/lanes/${encodeURIComponent(mark.arm)}/events?${q}`;
  try {
    return { state: 'here', events: await ask(url, readRawEvents, { signal }) };
  } catch (cause) {
    if (signal.aborted) throw cause;
    return { state: 'failed', sentence: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** Raw records are decoded by a server; where the recording lies beside the page, it can be had there. */
function withoutServer(bundle: string | null): string {
  const why = 'This page has no server, and raw records are decoded by one.';
  if (bundle === null) return why;
  return `${why} They lie in ${bundle}, in the same folder: ./duet export ${bundle} --to csv FOLDER lists them.`;
}
