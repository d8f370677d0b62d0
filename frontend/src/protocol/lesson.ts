// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson as the server sends it: lesson.yaml as a tree, with patch texts and prose. Unknown keys are kept out. */

import { z } from 'zod';

/** A list that the server may leave out or send as null. */
function many<T extends z.ZodType>(item: T) {
  return z
    .array(item)
    .nullish()
    .transform((list) => list ?? []);
}

const patch = z.object({
  file: z.string(),
  subject: z.string().default(''),
  body: z.string().default(''),
  text: z.string(),
});

const arm = z.object({
  name: z.string(),
  title: z.string(),
  role: z.enum(['before', 'after', 'alternative', 'mainline']),
  summary: z.string(),
  patches: many(z.string()),
  patch_texts: many(patch),
});

const param = z.object({
  title: z.string(),
  help: z.string(),
  type: z.enum(['int', 'bool', 'choice']).default('int'),
  default: z.number(),
  min: z.number().nullish(),
  max: z.number().nullish(),
  choices: many(z.number()),
  labels: many(z.string()),
  unit: z.string().default(''),
  applies: z.enum(['boot', 'run', 'model']).default('run'),
  role: z.enum(['duration', 'cpus', 'threads']).nullish(),
});

const workload = z.object({
  title: z.string(),
  summary: z.string(),
  run: z.string().default(''),
  /** It listens to what a viewer says while it runs. */
  input: z.boolean().default(false),
});

const kind = z.object({
  name: z.string(),
  title: z.string(),
  colour: z.enum(['work', 'wait', 'mechanism', 'gain', 'vain', 'hazard', 'idle', 'other']),
  layer: z.enum(['state', 'function', 'track', 'mark']),
  evidence: z.enum(['measured', 'counted', 'modelled']).default('counted'),
  lesson: z.boolean().default(true),
  always: z.boolean().default(false),
});

const track = z.object({
  name: z.string(),
  title: z.string(),
  arms: many(z.string()),
  lesson: z.boolean().default(true),
});

const scene = z.object({
  id: z.string(),
  title: z.string(),
  arms: z.array(z.string()),
  params: z.record(z.string(), z.number()).default({}),
  /** 0: as long as what is looked at. */
  window_ms: z.number().nonnegative().default(0),
  /** The same where the axis counts points. */
  window_steps: z.number().int().nonnegative().default(0),
  seconds: z.number().positive().default(5),
  /** Where to look: one of the names that every view knows, or one of the view's own. */
  moment: z.string().default('newest'),
  align: z.enum(['time', 'operation', 'marker', 'begin']).default('time'),
  /** The operation that lanes are aligned at, from 1. */
  operation: z.number().int().positive().default(1),
  focus: many(z.string()),
  /** knobs, patch, latency, measured, and parts of the view. */
  show: many(z.string()),
  /** One of the view's sentences. */
  sentence: z.string().default('none'),
  predict: z.string().nullish(),
  workload: z.string().nullish(),
  /** What it says and does otherwise on the count clock, whose guest has one CPU. */
  on_count: z
    .object({
      params: z.record(z.string(), z.number()).default({}),
      note: z.string().default(''),
    })
    .nullish(),
});

const prediction = z.object({
  question: z.string(),
  choices: z.array(z.string()),
  /** ops_ratio, or one of the view's answers. */
  metric: z.string(),
  unit: z.string().default(''),
  arms: z.tuple([z.string(), z.string()]),
  bounds: z.array(z.number()),
  params: z.record(z.string(), z.number()).default({}),
});

const act = z.object({
  title: z.string(),
  help: z.string(),
  workload: z.string(),
  min: z.number().default(0),
  max: z.number().nullish(),
  max_param: z.string().nullish(),
});

const point = z.object({ name: z.string(), title: z.string(), fields: many(z.string()) });

const axis = z.object({
  point: z.string(),
  title: z.string(),
  unit: z.string(),
  plural: z.string(),
  /** Where it counts; in other runs the axis is guest time. None: everywhere. */
  workloads: many(z.string()),
});

/** What the microscope watches. */
const microscope = z.object({
  functions: z.array(z.string()),
  operation: z.string(),
  object: z.string(),
  workloads: many(z.string()),
});

const question = z.object({
  ask: z.string(),
  kind: z.string(),
  arm: z.string(),
  why: z.string(),
});

const lit = z.object({
  match: z.string(),
  kind: z.string(),
  arms: many(z.string()),
  who: z.string().default(''),
});

const recording = z.looseObject({
  name: z.string(),
  params: z.record(z.string(), z.number()).default({}),
  arms: many(z.string()),
  clock: z.enum(['wall', 'count']).default('wall'),
  workload: z.string().nullish(),
  recorded_at: z.string().nullish(),
});

const metric = z.object({
  title: z.string(),
  unit: z.string(),
  better: z.enum(['higher', 'lower', 'neither']),
  line: z.string().nullish(),
  dwarf: z.string().nullish(),
  extra: z.boolean().default(false),
});

const seed = z.object({
  claim: z.string(),
  /** Its figures, as the mail gives them. */
  mail: z.string(),
  arm: z.string().default(''),
  to: z.string().default(''),
  params: z.record(z.string(), z.number()).default({}),
});

/** A recorded table of untraced runs. */
const measuredTable = z.object({
  clock: z.enum(['wall', 'count']),
  params: z.record(z.string(), z.number()),
  workload: z.string(),
  rows: z.array(
    z.object({
      arm: z.string(),
      n: z.number(),
      ops_per_s_median: z.number().nullable(),
      unit: z.string(),
    }),
  ),
});

/** What a lesson has with and without a picture. */
const common = z.object({
  slug: z.string(),
  title: z.string(),
  question: z.string(),
  summary: z.string().default(''),
  clock: z.enum(['wall', 'count']),
  clocks: z.array(z.enum(['wall', 'count'])),
  arms: z.array(arm).min(1),
  params: z.record(z.string(), param),
  workloads: z.record(z.string(), workload),
  caveats: many(z.string()),
  /** Arms whose kernel is built. */
  ready: z.record(z.string(), z.boolean()).default({}),
});

/** A lesson without a view: its numbers come from a terminal. */
export const numbersLesson = common.extend({
  view: z.null().optional(),
  metrics: z.record(z.string(), metric).default({}),
  seeds: many(seed),
  /** content.md as it stands, markdown. */
  prose: z.string().default(''),
});

export const lesson = common.extend({
  view: z.string(),
  /** `open` null: no events tell of single ones, so lanes cannot count them. */
  operation: z.object({
    name: z.string(),
    plural: z.string(),
    open: z.string().nullable().optional(),
  }),
  /** What an arrow key moves by; null: the operation. */
  beat: z
    .object({ point: z.string(), name: z.string(), plural: z.string() })
    .nullish()
    .transform((one) => one ?? null),
  /** What the rows of threads are called. */
  thread: z.string().default('thread'),
  points: many(point),
  /** What a viewer may do to a live run. */
  acts: z.record(z.string(), act).default({}),
  axis: axis.nullish().transform((one) => one ?? null),
  microscope: microscope.nullish().transform((one) => one ?? null),
  kinds: z.array(kind),
  tracks: many(track),
  lit: many(lit),
  scenes: z.array(scene),
  /** The scene that the front page shows. */
  hero: z.string().nullish(),
  predictions: z.record(z.string(), prediction).default({}),
  questions: many(question),
  claims: many(z.looseObject({})),
  seeds: many(seed),
  /** Every recorded table of untraced runs, the headline first. */
  measured: many(measuredTable),
  /** Prose by scene id, markdown. */
  content: z.record(z.string(), z.string()).default({}),
  recordings: many(recording),
  /** Facts of the base kernel that a picture needs; HZ of the base config. */
  hz: z.number().positive().default(250),
  base: z.string().default(''),
});

export type Lesson = z.infer<typeof lesson>;
export type NumbersLesson = z.infer<typeof numbersLesson>;
export type Metric = NumbersLesson['metrics'][string];
export type Arm = Lesson['arms'][number];
export type Param = Lesson['params'][string];
export type Kind = Lesson['kinds'][number];
export type Scene = Lesson['scenes'][number];
export type Prediction = Lesson['predictions'][string];
export type Question = Lesson['questions'][number];
export type Patch = z.infer<typeof patch>;
export type Recording = z.infer<typeof recording>;
export type Act = Lesson['acts'][string];
export type PointFacts = Lesson['points'][number];
export type Axis = NonNullable<Lesson['axis']>;
export type MeasuredTable = z.infer<typeof measuredTable>;
export type Lit = Lesson['lit'][number];

/** The number of a kind on the wire; -1 if the lesson has no such kind. */
export function kindNumber(of: Pick<Lesson, 'kinds'>, name: string): number {
  return of.kinds.findIndex((k) => k.name === name);
}
