// SPDX-License-Identifier: GPL-2.0-or-later
/** Generated from messages.schema.json by `npm run gen`. Do not edit. */

export const schemaProtocol = 3;

export type ServerWire =
  | Batch
  | Begun
  | Build
  | Control
  | ErrorMessage
  | Gap
  | Held
  | Hello
  | Lane
  | Lens
  | LessonMessage
  | Line
  | Loss
  | Measured
  | Metrics
  | Reading
  | Rows
  | Run
  | Runs
  | Sample;
/**
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "JsonValue".
 */
export type JsonValue = unknown;
export type ClientWire = Ack | Do | Again | TakeControl | Hold | Measure | Open | Start | Stop;

export interface Messages {
  server: ServerWire;
  client: ClientWire;
}
/**
 * New rows of one table as columns: raw little-endian bytes, `n` values each.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Batch".
 */
export interface Batch {
  type: 'batch';
  run_id: string;
  arm: string;
  /**
   * spans, ops, links; open replaces its former self
   */
  table: string;
  /**
   * running number of this table of this lane, from 0
   */
  seq: number;
  n: number;
  /**
   * the lane's data are complete up to here
   */
  watermark_ns: number;
  columns: {
    [k: string]: Uint8Array;
  };
  dtypes: {
    [k: string]: 'f8' | 'i4' | 'u1' | 'u4' | 'i2';
  };
  /**
   * Unix time in ns when the server encoded it
   */
  sent_ns: number;
  /**
   * Unix time in ms when the newest event in it happened (estimate)
   */
  newest_event_host_ms: number | null;
}
/**
 * A run that this page asked for begins; the page shows it. Its messages follow.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Begun".
 */
export interface Begun {
  type: 'begun';
  run_id: string;
}
/**
 * Progress of the kernel builds; latest wins per arm.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Build".
 */
export interface Build {
  type: 'build';
  lesson: string;
  /**
   * all arms that are being built or wait for it
   */
  arms: string[];
  arm: string;
  phase: 'wait' | 'extract' | 'patch' | 'config' | 'compile' | 'link' | 'store' | 'done' | 'failed';
  done: number;
  total: number;
  elapsed_s: number;
  message: string;
  error: ErrorMessage | null;
}
/**
 * One failure as a person should read it.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "ErrorMessage".
 */
export interface ErrorMessage {
  type: 'error';
  code: string;
  sentence: string;
  remedy: string;
  detail: string;
  /**
   * the run, as it was asked for, that will not come or is not whole
   */
  run: string | null;
}
/**
 * Who controls the live run that this page watches; latest wins.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Control".
 */
export interface Control {
  type: 'control';
  run_id: string;
  by: 'you' | 'other' | 'nobody';
  /**
   * this visitor could have control by asking for it
   */
  may_take: boolean;
  /**
   * this visitor asked for the run
   */
  yours: boolean;
}
/**
 * Batches that this browser was not sent, because it or the replay buffer was full.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Gap".
 */
export interface Gap {
  type: 'gap';
  run_id: string;
  arm: string;
  table: string;
  from_seq: number;
  /**
   * inclusive
   */
  to_seq: number;
  rows: number;
}
/**
 * How a lane is held; latest wins. The machine stands some accesses after it was asked to.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Held".
 */
export interface Held {
  type: 'held';
  run_id: string;
  arm: string;
  phase: 'waiting' | 'held' | 'going';
  /**
   * so many more accesses were to come first
   */
  after: number;
  /**
   * accesses to the object when the hold was asked for
   */
  asked: number | null;
  /**
   * the same when the machine stood; exact
   */
  stood: number | null;
  /**
   * why it goes on, if nobody let it go
   */
  message: string;
}
/**
 * First message to every viewer.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Hello".
 */
export interface Hello {
  type: 'hello';
  protocol: number;
  version: string;
  /**
   * this page's name in the server's log
   */
  viewer: string;
  /**
   * false: this server shows recordings only
   */
  live: boolean;
  role: 'viewer' | 'student' | 'instructor' | 'operator';
  /**
   * what this visitor may not do, and why in a sentence
   */
  denied: {
    [k: string]: string;
  };
  lessons: LessonCard[];
}
/**
 * A lesson in the list of a greeting.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "LessonCard".
 */
export interface LessonCard {
  slug: string;
  title: string;
  question: string;
  /**
   * every kernel of the lesson is built
   */
  available: boolean;
  /**
   * it has a view; without one it is numbers only so far
   */
  picture: boolean;
}
/**
 * State of one lane; latest wins.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Lane".
 */
export interface Lane {
  type: 'lane';
  run_id: string;
  arm: string;
  phase:
    | 'waiting'
    | 'building'
    | 'booting'
    | 'ready'
    | 'running'
    | 'draining'
    | 'done'
    | 'stopped'
    | 'failed';
  message: string;
  remedy: string;
  /**
   * console tail or log tail; shown on demand
   */
  detail: string;
  accel: string | null;
  /**
   * process of the guest, while it lives
   */
  pid: number | null;
  /**
   * uname -r of the guest
   */
  kernel: string | null;
  boot_s: number | null;
  /**
   * null: not measured, as on the count clock, which it cannot harm
   */
  contention: Contention | null;
}
/**
 * CPU time that a lane's vCPUs wanted of the host, since its workload's start.
 *
 * A run is distorted where the sum of its lanes waited for more than `bound` of what they wanted.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Contention".
 */
export interface Contention {
  /**
   * seconds they had, all vCPUs together
   */
  ran_s: number;
  /**
   * seconds another thread or another machine had the CPU
   */
  waited_s: number;
  /**
   * share of waiting beyond which times are distorted, 0 to 1
   */
  bound: number;
}
/**
 * How a lens of a lane is; latest wins.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Lens".
 */
export interface Lens {
  type: 'lens';
  run_id: string;
  arm: string;
  lens: 'xray' | 'microscope';
  state: 'off' | 'attaching' | 'on' | 'failed';
  /**
   * by what it reads: the process's memory (fast), QMP text (slow)
   */
  route: 'memory' | 'qmp' | 'unknown';
  message: string;
  remedy: string;
  samples: number;
  torn: number;
  failed: number;
  /**
   * samples that were due and did not come
   */
  dropped: number;
}
/**
 * Answer to `open`: lesson.yaml as a tree, with patch texts and prose (see lesson_view).
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "LessonMessage".
 */
export interface LessonMessage {
  type: 'lesson';
  lesson: {
    [k: string]: JsonValue;
  };
}
/**
 * One line of the workload, verbatim.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Line".
 */
export interface Line {
  type: 'line';
  run_id: string;
  arm: string;
  stream: 'out' | 'err';
  text: string;
  t_ns: number;
}
/**
 * Events lost before the stream.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Loss".
 */
export interface Loss {
  type: 'loss';
  run_id: string;
  arm: string;
  t0_ns: number;
  t1_ns: number;
  /**
   * null: it is not known how many
   */
  events: number | null;
  where: 'ring buffer' | 'kprobe' | 'host';
}
/**
 * The measured table: lanes one after another, untraced. Also its progress while it runs.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Measured".
 */
export interface Measured {
  type: 'measured';
  lesson: string;
  run_id: string | null;
  source: 'live' | 'recorded';
  clock: 'wall' | 'count';
  params: {
    [k: string]: number;
  };
  workload: string;
  rows: MeasuredRow[];
  /**
   * ISO 8601 UTC
   */
  at: string;
  verdict: string;
  host: string;
  /**
   * what reproduces it
   */
  command: string;
  /**
   * runs finished
   */
  done: number;
  /**
   * runs wanted; done < total: still measuring
   */
  total: number;
}
/**
 * One arm of a measured table.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "MeasuredRow".
 */
export interface MeasuredRow {
  arm: string;
  n: number;
  ops_per_s_median: number | null;
  ops_per_s_mean: number | null;
  /**
   * lower end of the 95 % interval
   */
  ops_per_s_low: number | null;
  ops_per_s_high: number | null;
  ops_per_s: number[];
  unit: string;
  /**
   * the arm that it is compared with
   */
  to: string | null;
  change_percent: number | null;
  verdict: string;
}
/**
 * Counts so far of one lane; latest wins.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Metrics".
 */
export interface Metrics {
  type: 'metrics';
  run_id: string;
  arm: string;
  watermark_ns: number;
  ops: number;
  spans: {
    [k: string]: number;
  };
  events_read: number;
  events_lost: number;
  /**
   * ended cycles of the lesson's first track
   */
  cycles: number;
  wait_ns: Waits;
}
/**
 * Quantiles of the waits of the lesson; null where nothing waited.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Waits".
 */
export interface Waits {
  p50: number | null;
  p95: number | null;
  max: number | null;
  n: number;
}
/**
 * How far a recording is read; stands among its batches. Until it is `whole` more comes.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Reading".
 */
export interface Reading {
  type: 'reading';
  run_id: string;
  /**
   * bytes of its transcripts that are decoded, at least
   */
  read: number;
  /**
   * all bytes of its transcripts; 0: not known yet
   */
  total: number;
  /**
   * nothing more comes
   */
  whole: boolean;
}
/**
 * All rows of a lane known so far; replaces the former list.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Rows".
 */
export interface Rows {
  type: 'rows';
  run_id: string;
  arm: string;
  rows: Row[];
}
/**
 * A row of a lane: a thread of the workload, another process of it, or a track.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Row".
 */
export interface Row {
  row: number;
  tid: number;
  name: string;
  role: 'thread' | 'other' | 'track';
}
/**
 * State of a run; latest wins.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Run".
 */
export interface Run {
  type: 'run';
  run_id: string;
  lesson: string;
  source: 'live' | 'recorded';
  purpose: 'explain' | 'measure';
  clock: 'wall' | 'count';
  /**
   * count clock: 2^shift ns an instruction
   */
  shift: number;
  params: {
    [k: string]: number;
  };
  workload: string;
  arms: string[];
  phase: 'preparing' | 'booting' | 'ready' | 'running' | 'draining' | 'done' | 'stopped' | 'failed';
  /**
   * ISO 8601 UTC; null before the start
   */
  started_at: string | null;
  /**
   * ISO 8601 UTC of a recording
   */
  recorded_at: string | null;
  message: string;
}
/**
 * What runs live on this server, and what this visitor waits for; latest wins.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Runs".
 */
export interface Runs {
  type: 'runs';
  live: LiveRun[];
  waiting: WaitingRun | null;
}
/**
 * A run that goes on, as others see it.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "LiveRun".
 */
export interface LiveRun {
  /**
   * opens the run now, and its file later
   */
  run_id: string;
  lesson: string;
  purpose: 'explain' | 'measure';
  arms: string[];
  workload: string;
  params: {
    [k: string]: number;
  };
  clock: 'wall' | 'count';
  yours: boolean;
}
/**
 * The run that this visitor waits for.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "WaitingRun".
 */
export interface WaitingRun {
  run_id: string;
  lesson: string;
  purpose: 'explain' | 'measure';
  arms: string[];
  /**
   * 1: the next to start
   */
  place: number;
  /**
   * requests that wait, in all
   */
  waiting: number;
  /**
   * until it starts, when this was sent
   */
  estimate_s: number;
}
/**
 * One look of the x-ray at one structure. See the probe's file for columns, facts, texts.
 *
 * The newest sample at or before a moment is what is known of it.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Sample".
 */
export interface Sample {
  type: 'sample';
  run_id: string;
  arm: string;
  probe: string;
  /**
   * running number of this probe on this lane, from 0
   */
  seq: number;
  /**
   * below 0: before the start
   */
  t_ns: number;
  /**
   * the guest's time lies within this of t_ns
   */
  error_ns: number;
  /**
   * how the time is known: calibrated host time, or the guest's clock in memory
   */
  clock: 'host' | 'guest';
  /**
   * host time of the reads
   */
  took_ns: number;
  /**
   * reads that differed from one to the next, so far on this lane
   */
  torn: number;
  /**
   * reads that failed, so far on this lane
   */
  failed: number;
  /**
   * rows
   */
  n: number;
  columns: {
    [k: string]: Uint8Array;
  };
  dtypes: {
    [k: string]: 'f8' | 'i4' | 'u1' | 'u4' | 'i2';
  };
  facts: {
    [k: string]: number;
  };
  /**
   * a name per row, or none
   */
  texts: string[];
}
/**
 * So many messages have been handled. A page that acks is never sent far ahead.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Ack".
 */
export interface Ack {
  type: 'ack';
  n: number;
}
/**
 * Do one of the lesson's acts on the live run that this page watches.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Do".
 */
export interface Do {
  type: 'act';
  name: string;
  value?: number;
}
/**
 * Start the live run that is watched once more, or this visitor's last one.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Again".
 */
export interface Again {
  type: 'again';
}
/**
 * Take or give back control of the live run that this page watches.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "TakeControl".
 */
export interface TakeControl {
  type: 'control';
  take: boolean;
}
/**
 * Hold the guests of the live run that this page watches, or let them go.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Hold".
 */
export interface Hold {
  type: 'hold';
  on: boolean;
  after?: number;
}
/**
 * Fill the measured table: one guest at a time, untraced, A B B A.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Measure".
 */
export interface Measure {
  type: 'measure';
  lesson: string;
  /**
   * @minItems 1
   * @maxItems 5
   */
  arms:
    | [string]
    | [string, string]
    | [string, string, string]
    | [string, string, string, string]
    | [string, string, string, string, string];
  workload?: string | null;
  params?: {
    [k: string]: number;
  };
  clock?: ('wall' | 'count') | null;
  repeats?: number;
}
/**
 * Show me a lesson: the run that is named, or the recording that fits the step.
 *
 * Args:
 *     run: an id (of a live run, too), the name of one of the lesson's recordings, `recorded` as
 *         if nothing was named, or `none` for the lesson alone.
 *     step: the recording that fits this step best; an unknown or absent one is the first.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Open".
 */
export interface Open {
  type: 'open';
  lesson: string;
  run?: string | null;
  step?: string | null;
}
/**
 * Run live, now or when it is this visitor's turn (`runs` tells his place).
 *
 * It replaces the request that he waits for. His own run that goes on is stopped for it, unless
 * others wait or asked for that run. A request that equals another's shares its run.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Start".
 */
export interface Start {
  type: 'start';
  lesson: string;
  /**
   * @minItems 1
   * @maxItems 5
   */
  arms:
    | [string]
    | [string, string]
    | [string, string, string]
    | [string, string, string, string]
    | [string, string, string, string, string];
  workload?: string | null;
  params?: {
    [k: string]: number;
  };
  clock?: ('wall' | 'count') | null;
}
/**
 * End a live run or a measurement, or withdraw a request that waits.
 *
 * Args:
 *     run: its id; without one, what this visitor waits for and the live run he watches or runs.
 *
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Stop".
 */
export interface Stop {
  type: 'stop';
  run?: string | null;
}
