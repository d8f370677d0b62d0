// SPDX-License-Identifier: GPL-2.0-or-later
/** What the socket may carry, checked where it comes in. messages.gen.ts is the server's own list; a test compares. */

import { z } from 'zod';

export const protocolVersion = 3;

// The page's content security policy forbids the code that zod would compile.
z.config({ jitless: true });

const clock = z.enum(['wall', 'count']);
const source = z.enum(['live', 'recorded']);
const params = z.record(z.string(), z.number());

const action = z.enum(['watch', 'run', 'control_others', 'measure', 'delete_others']);

export const hello = z.object({
  type: z.literal('hello'),
  protocol: z.number(),
  version: z.string(),
  viewer: z.string(),
  /** False: this server shows recordings only. */
  live: z.boolean().default(true),
  role: z.enum(['viewer', 'student', 'instructor', 'operator']).default('operator'),
  /** What this visitor may not do, and why in a sentence. */
  denied: z.partialRecord(action, z.string()).default({}),
  lessons: z.array(
    z.object({
      slug: z.string(),
      title: z.string(),
      question: z.string(),
      available: z.boolean(),
      /** It has a view; without one it is numbers only so far. */
      picture: z.boolean(),
    }),
  ),
});

export const lessonMessage = z.object({
  type: z.literal('lesson'),
  lesson: z.record(z.string(), z.unknown()),
});

export const run = z.object({
  type: z.literal('run'),
  run_id: z.string(),
  lesson: z.string(),
  source,
  purpose: z.enum(['explain', 'measure']).default('explain'),
  clock,
  /** Count clock: 2^shift ns an instruction. */
  shift: z.number().default(0),
  params,
  workload: z.string(),
  arms: z.array(z.string()),
  phase: z.enum([
    'preparing',
    'booting',
    'ready',
    'running',
    'draining',
    'done',
    'stopped',
    'failed',
  ]),
  started_at: z.string().nullable().default(null),
  recorded_at: z.string().nullable().default(null),
  message: z.string().default(''),
});

/** CPU time that a lane's vCPUs wanted of the host. */
const contention = z.object({
  ran_s: z.number().nonnegative(),
  waited_s: z.number().nonnegative(),
  /** Share of waiting beyond which times are distorted. */
  bound: z.number(),
});

export const lane = z.object({
  type: z.literal('lane'),
  run_id: z.string(),
  arm: z.string(),
  phase: z.enum([
    'waiting',
    'building',
    'booting',
    'ready',
    'running',
    'draining',
    'done',
    'stopped',
    'failed',
  ]),
  message: z.string().default(''),
  remedy: z.string().default(''),
  detail: z.string().default(''),
  accel: z.string().nullable().default(null),
  pid: z.number().nullable().default(null),
  kernel: z.string().nullable().default(null),
  boot_s: z.number().nullable().default(null),
  /** Null: not measured, as on the count clock. */
  contention: contention.nullable().default(null),
});

export const rows = z.object({
  type: z.literal('rows'),
  run_id: z.string(),
  arm: z.string(),
  rows: z.array(
    z.object({
      row: z.number().int().nonnegative(),
      tid: z.number().int(),
      name: z.string(),
      role: z.enum(['thread', 'other', 'track']),
    }),
  ),
});

export const dtype = z.enum(['f8', 'i4', 'u1', 'u4', 'i2']);
export type Dtype = z.infer<typeof dtype>;

/** How far the server has read a recording; stands among its batches. */
export const reading = z.object({
  type: z.literal('reading'),
  run_id: z.string(),
  /** Bytes, at least. */
  read: z.number().nonnegative(),
  /** 0: not known yet. */
  total: z.number().nonnegative(),
  /** Nothing more comes. */
  whole: z.boolean(),
});

export const batch = z.object({
  type: z.literal('batch'),
  run_id: z.string(),
  arm: z.string(),
  table: z.string(),
  seq: z.number().int(),
  n: z.number().int().nonnegative(),
  watermark_ns: z.number(),
  columns: z.record(z.string(), z.instanceof(Uint8Array)),
  dtypes: z.record(z.string(), dtype),
  sent_ns: z.number(),
  newest_event_host_ms: z.number().nullable().default(null),
});

const waits = z.object({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  max: z.number().nullable(),
  n: z.number(),
});

export const metrics = z.object({
  type: z.literal('metrics'),
  run_id: z.string(),
  arm: z.string(),
  watermark_ns: z.number(),
  ops: z.number(),
  spans: z.record(z.string(), z.number()),
  events_read: z.number(),
  events_lost: z.number(),
  cycles: z.number(),
  wait_ns: waits,
});

export const gap = z.object({
  type: z.literal('gap'),
  run_id: z.string(),
  arm: z.string(),
  table: z.string(),
  from_seq: z.number(),
  to_seq: z.number(),
  rows: z.number(),
});

export const loss = z.object({
  type: z.literal('loss'),
  run_id: z.string(),
  arm: z.string(),
  t0_ns: z.number(),
  t1_ns: z.number(),
  /** null: it is not known how many. */
  events: z.number().nullable(),
  where: z.enum(['ring buffer', 'kprobe', 'host']),
});

export const line = z.object({
  type: z.literal('line'),
  run_id: z.string(),
  arm: z.string(),
  stream: z.enum(['out', 'err']),
  text: z.string(),
  t_ns: z.number(),
});

export const sample = z.object({
  type: z.literal('sample'),
  run_id: z.string(),
  arm: z.string(),
  probe: z.string(),
  seq: z.number().int(),
  /** Below 0: before the start. */
  t_ns: z.number(),
  error_ns: z.number(),
  clock: z.enum(['host', 'guest']),
  took_ns: z.number(),
  torn: z.number(),
  failed: z.number(),
  n: z.number().int().nonnegative(),
  columns: z.record(z.string(), z.instanceof(Uint8Array)),
  dtypes: z.record(z.string(), dtype),
  facts: z.record(z.string(), z.number()),
  texts: z.array(z.string()),
});

export const lens = z.object({
  type: z.literal('lens'),
  run_id: z.string(),
  arm: z.string(),
  lens: z.enum(['xray', 'microscope']).default('xray'),
  state: z.enum(['off', 'attaching', 'on', 'failed']),
  route: z.enum(['memory', 'qmp', 'unknown']),
  message: z.string().default(''),
  remedy: z.string().default(''),
  samples: z.number(),
  torn: z.number(),
  failed: z.number(),
  dropped: z.number(),
});

export const held = z.object({
  type: z.literal('held'),
  run_id: z.string(),
  arm: z.string(),
  phase: z.enum(['waiting', 'held', 'going']),
  /** So many more accesses were to come first. */
  after: z.number(),
  asked: z.number().nullable(),
  stood: z.number().nullable(),
  message: z.string().default(''),
});

export const errorMessage = z.object({
  type: z.literal('error'),
  code: z.string(),
  sentence: z.string(),
  remedy: z.string(),
  detail: z.string().default(''),
  /** The run, as it was asked for, that will not come or is not whole. */
  run: z.string().nullish(),
});

export const build = z.object({
  type: z.literal('build'),
  lesson: z.string(),
  arms: z.array(z.string()),
  arm: z.string(),
  phase: z.enum([
    'wait',
    'extract',
    'patch',
    'config',
    'compile',
    'link',
    'store',
    'done',
    'failed',
  ]),
  done: z.number(),
  total: z.number(),
  elapsed_s: z.number(),
  message: z.string().default(''),
  error: errorMessage.nullable().default(null),
});

export const measured = z.object({
  type: z.literal('measured'),
  lesson: z.string(),
  run_id: z.string().nullable().default(null),
  source,
  clock,
  params,
  workload: z.string(),
  rows: z.array(
    z.object({
      arm: z.string(),
      n: z.number(),
      ops_per_s_median: z.number().nullable(),
      ops_per_s_mean: z.number().nullable().default(null),
      ops_per_s_low: z.number().nullable().default(null),
      ops_per_s_high: z.number().nullable().default(null),
      ops_per_s: z.array(z.number()),
      unit: z.string().default('ops/s'),
      to: z.string().nullable().default(null),
      change_percent: z.number().nullable().default(null),
      verdict: z.string().default(''),
    }),
  ),
  at: z.string(),
  verdict: z.string(),
  host: z.string().default(''),
  command: z.string().default(''),
  done: z.number().default(0),
  total: z.number().default(0),
});

export const control = z.object({
  type: z.literal('control'),
  run_id: z.string(),
  by: z.enum(['you', 'other', 'nobody']),
  /** This visitor could have control by asking for it. */
  may_take: z.boolean(),
  /** This visitor asked for the run. */
  yours: z.boolean(),
});

const purpose = z.enum(['explain', 'measure']);

/** What runs live on the server, and what this visitor waits for. */
export const runs = z.object({
  type: z.literal('runs'),
  live: z.array(
    z.object({
      run_id: z.string(),
      lesson: z.string(),
      purpose,
      arms: z.array(z.string()),
      workload: z.string(),
      params,
      clock,
      yours: z.boolean(),
    }),
  ),
  waiting: z
    .object({
      run_id: z.string(),
      lesson: z.string(),
      purpose,
      arms: z.array(z.string()),
      /** 1: the next to start. */
      place: z.number().int(),
      waiting: z.number().int(),
      estimate_s: z.number(),
    })
    .nullable()
    .default(null),
});

/** A run that this page asked for begins; its messages follow. */
export const begun = z.object({
  type: z.literal('begun'),
  run_id: z.string(),
});

export const serverMessage = z.discriminatedUnion('type', [
  hello,
  lessonMessage,
  run,
  lane,
  rows,
  batch,
  reading,
  metrics,
  gap,
  loss,
  line,
  sample,
  lens,
  held,
  build,
  measured,
  control,
  runs,
  begun,
  errorMessage,
]);

export type ReadingMessage = z.infer<typeof reading>;
/** What a role may do or not. */
export type ActionName = z.infer<typeof action>;
export type HelloMessage = z.infer<typeof hello>;
export type LessonMessage = z.infer<typeof lessonMessage>;
export type RunMessage = z.infer<typeof run>;
export type Contention = z.infer<typeof contention>;
export type LaneMessage = z.infer<typeof lane>;
export type RowsMessage = z.infer<typeof rows>;
export type MetricsMessage = z.infer<typeof metrics>;
export type GapMessage = z.infer<typeof gap>;
export type LossMessage = z.infer<typeof loss>;
export type LineMessage = z.infer<typeof line>;
export type BuildMessage = z.infer<typeof build>;
export type MeasuredMessage = z.infer<typeof measured>;
export type MeasuredRow = MeasuredMessage['rows'][number];
export type ControlMessage = z.infer<typeof control>;
export type RunsMessage = z.infer<typeof runs>;
export type LiveRun = RunsMessage['live'][number];
export type WaitingRun = NonNullable<RunsMessage['waiting']>;
export type HeldMessage = z.infer<typeof held>;
export type LensMessage = z.infer<typeof lens>;
export type ErrorMessage = z.infer<typeof errorMessage>;
export type ClockName = z.infer<typeof clock>;

export type TypedColumn = Float64Array | Int32Array | Uint8Array | Uint32Array | Int16Array;

/** A batch as the page keeps it: typed columns that own their memory. */
export interface BatchMessage extends Omit<z.infer<typeof batch>, 'columns' | 'dtypes'> {
  readonly columns: Readonly<Record<string, TypedColumn>>;
}

/** A sample likewise; a column may have more or fewer values than rows, as its probe says. */
export interface SampleMessage extends Omit<z.infer<typeof sample>, 'columns' | 'dtypes'> {
  readonly columns: Readonly<Record<string, TypedColumn>>;
}

export type ServerMessage =
  | Exclude<z.infer<typeof serverMessage>, { type: 'batch' | 'sample' }>
  | BatchMessage
  | SampleMessage;

export interface RunChoice {
  readonly lesson: string;
  readonly arms: readonly string[];
  readonly workload?: string;
  readonly params?: Readonly<Record<string, number>>;
  readonly clock?: ClockName;
}

export type ClientMessage =
  | {
      readonly type: 'open';
      readonly lesson: string;
      /** An id, a recording's name, or `none` for the lesson alone. */
      readonly run?: string;
      /** Without a run: the recording that fits this step. */
      readonly step?: string;
    }
  | ({ readonly type: 'start' } & RunChoice)
  | ({ readonly type: 'measure'; readonly repeats?: number } & RunChoice)
  | { readonly type: 'act'; readonly name: string; readonly value: number }
  | { readonly type: 'hold'; readonly on: boolean; readonly after: number }
  | { readonly type: 'stop'; readonly run?: string }
  | { readonly type: 'again' }
  | { readonly type: 'control'; readonly take: boolean }
  | { readonly type: 'ack'; readonly n: number };
