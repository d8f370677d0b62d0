// SPDX-License-Identifier: GPL-2.0-or-later
/** The values that knobs can have, and the cost of changing them. Pure. */

import { t } from '../base/lang/t.ts';
import { formatFigure, plural } from '../base/units.ts';
import { workloadOf } from '../derive/recording.ts';
import type { RunIndex } from '../derive/types.ts';
import { knobOf, type Lesson, type Param, type Scene } from '../protocol/lesson.ts';
import type { ClockName, RunMessage } from '../protocol/messages.ts';
import type { Place } from './place.ts';

export interface Knobs {
  readonly arms: readonly string[];
  readonly params: Readonly<Record<string, number>>;
  readonly clock: ClockName;
  readonly workload: string;
}

/** The knob for the number of CPUs. On the count clock, a guest always has one vCPU, whatever this knob's value is. */
const cpuParam = (lesson: Pick<Lesson, 'params'>) => knobOf(lesson, 'cpus');

export function firstKnobs(lesson: Lesson): Knobs {
  return {
    arms: lesson.arms.filter((a) => !a.optional).map((a) => a.name),
    params: Object.fromEntries(Object.entries(lesson.params).map(([k, p]) => [k, p.default])),
    clock: lesson.clock,
    workload: Object.keys(lesson.workloads)[0] ?? '',
  };
}

/** The parameters that a scene sets when this clock is used. */
export function sceneParams(
  scene: Pick<Scene, 'params' | 'on_count'>,
  clock: ClockName,
): Readonly<Record<string, number>> {
  return clock === 'count' ? { ...scene.params, ...scene.on_count?.params } : scene.params;
}

/**
 * The knobs after a change to another scene. The scene sets the arms, the workload and its parameters. If the viewer
 * has changed the duration or another knob that needs a boot, its value is kept. Values that the previous scene had set
 * are reset.
 */
export function sceneKnobs(lesson: Lesson, now: Knobs, scene: Scene, from = scene): Knobs {
  const base = withWorkload(lesson, now, workloadFor(lesson, now, scene));
  const usual = firstKnobs(lesson).params;
  const before = { ...usual, ...sceneParams(from, now.clock) };
  const own = Object.entries(base.params).filter(
    ([name]) => stays(lesson.params[name]) && now.params[name] !== before[name],
  );
  const params = { ...usual, ...Object.fromEntries(own), ...sceneParams(scene, base.clock) };
  return settled(lesson, { ...base, arms: scene.arms, params });
}

/** Whether a value that the viewer has chosen is kept from step to step. */
function stays(param: Param | undefined): boolean {
  return param?.role === 'duration' || param?.applies === 'boot';
}

/**
 * Change the clock. Knobs that still have the scene's value for the old clock get the scene's value for the new clock.
 */
export function onClock(lesson: Lesson, scene: Scene, now: Knobs, clock: ClockName): Knobs {
  const next = withClock(lesson, now, clock);
  if (next.clock === now.clock) return next;
  const usual = firstKnobs(lesson).params;
  const [from, to] = [now.clock, next.clock].map((c) => ({ ...usual, ...sceneParams(scene, c) }));
  const moved = Object.keys(scene.on_count?.params ?? {}).filter(
    (name) => now.params[name] === from?.[name],
  );
  const params = Object.fromEntries(moved.map((name) => [name, to?.[name] ?? 0]));
  return { ...next, params: { ...next.params, ...params } };
}

/**
 * Change the workload. A workload that listens on the network needs the wall clock. On the count clock, no input
 * arrives while a guest runs, and idle time is skipped.
 */
export function withWorkload(lesson: Lesson, now: Knobs, workload: string): Knobs {
  const listens = (name: string) => lesson.workloads[name]?.input === true;
  const next = { ...now, workload };
  if (listens(workload)) return withClock(lesson, next, 'wall');
  return listens(now.workload) ? withClock(lesson, next, lesson.clock) : next;
}

/** The scene's workload. If no scene of the lesson names a workload, it is the viewer's choice. */
function workloadFor(lesson: Lesson, now: Knobs, scene: Scene): string {
  if (lesson.scenes.every((s) => s.workload == null)) return now.workload;
  return workloadOf(lesson, scene);
}

type KnobPlace = Pick<Place, 'knobs' | 'clock' | 'workload'>;

/** The knobs of a step, changed to the values in an address. Unknown names and invalid values are ignored. */
export function knobsAt(lesson: Lesson, scene: Scene, place: KnobPlace): Knobs {
  let knobs = sceneKnobs(lesson, firstKnobs(lesson), scene);
  if (place.workload !== null && Object.hasOwn(lesson.workloads, place.workload))
    knobs = withWorkload(lesson, knobs, place.workload);
  if (place.clock !== null) knobs = onClock(lesson, scene, knobs, place.clock);
  for (const [name, value] of Object.entries(place.knobs ?? {}))
    if (Object.hasOwn(lesson.params, name)) knobs = withParam(lesson, knobs, name, value);
  return knobs;
}

/** The knob values that an address must contain: those that differ from the step's own values. */
export function knobPlace(lesson: Lesson, scene: Scene, knobs: Knobs): KnobPlace {
  const usual = sceneKnobs(lesson, firstKnobs(lesson), scene);
  const workload = knobs.workload === usual.workload ? null : knobs.workload;
  const there = workload === null ? usual : withWorkload(lesson, usual, workload);
  const clock = knobs.clock === there.clock ? null : knobs.clock;
  const base = clock === null ? there : onClock(lesson, scene, there, clock);
  const turned = Object.entries(knobs.params).filter(([name, v]) => base.params[name] !== v);
  return { workload, clock, knobs: turned.length === 0 ? null : Object.fromEntries(turned) };
}

/** The valid value that is nearest to `value`. For a knob with choices, an invalid value becomes the default. */
export function clamp(param: Param, value: number): number {
  if (param.choices && param.choices.length > 0)
    return param.choices.includes(value) ? value : param.default;
  if (!Number.isFinite(value)) return param.default;
  const low = param.min ?? Number.MIN_SAFE_INTEGER;
  const high = param.max ?? Number.MAX_SAFE_INTEGER;
  return Math.min(high, Math.max(low, Math.round(value)));
}

export function withParam(lesson: Lesson, now: Knobs, name: string, value: number): Knobs {
  const param = lesson.params[name];
  if (!param) return now;
  return settled(lesson, { ...now, params: { ...now.params, [name]: clamp(param, value) } });
}

export function withClock(lesson: Lesson, now: Knobs, clock: ClockName): Knobs {
  if (!lesson.clocks.includes(clock)) return now;
  const cpus = cpuParam(lesson);
  const back = cpus === null ? undefined : lesson.params[cpus]?.default;
  const params =
    now.clock === 'count' && clock !== 'count' && cpus !== null && back !== undefined
      ? { ...now.params, [cpus]: back }
      : now.params;
  return settled(lesson, { ...now, clock, params });
}

/** Add or remove an arm. Arms keep the lesson's order, and the last arm cannot be removed. */
export function withArm(lesson: Lesson, now: Knobs, arm: string, on: boolean): Knobs {
  const wanted = new Set(now.arms);
  if (on) wanted.add(arm);
  else wanted.delete(arm);
  if (wanted.size === 0) return now;
  return { ...now, arms: lesson.arms.map((a) => a.name).filter((a) => wanted.has(a)) };
}

function settled(lesson: Lesson, knobs: Knobs): Knobs {
  const cpus = cpuParam(lesson);
  if (knobs.clock !== 'count' || cpus === null) return knobs;
  return { ...knobs, params: { ...knobs.params, [cpus]: 1 } };
}

/** The reason that a knob cannot be changed now; null if it can. */
export function fixedBecause(
  lesson: Pick<Lesson, 'params'>,
  knobs: Knobs,
  name: string,
): string | null {
  if (lesson.params[name]?.role === 'cpus' && knobs.clock === 'count')
    return t(
      'With the count clock, a guest has one CPU: time is the number of instructions, which run one after another.',
    );
  return null;
}

/**
 * Titles of the knobs whose change requires a reboot, because their values differ from those of the run on the stage.
 */
export function needBoot(lesson: Lesson, run: Knobs, wanted: Knobs): readonly string[] {
  const names = Object.entries(lesson.params)
    .filter(([k, p]) => p.applies === 'boot' && (run.params[k] ?? p.default) !== wanted.params[k])
    .map(([, p]) => p.title);
  if (run.clock !== wanted.clock) names.push('clock');
  return names;
}

/** The parameters of a run. Knobs of a model on the page are not included. */
export function runParams(lesson: Pick<Lesson, 'params'>, knobs: Knobs): Record<string, number> {
  return ofKnobs(lesson, knobs, (param) => param.applies !== 'model');
}

/** The knobs of a model on the page. They change the picture immediately. */
export function modelParams(lesson: Pick<Lesson, 'params'>, knobs: Knobs): Record<string, number> {
  return ofKnobs(lesson, knobs, (param) => param.applies === 'model');
}

function ofKnobs(
  lesson: Pick<Lesson, 'params'>,
  knobs: Knobs,
  wanted: (param: Param) => boolean,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(knobs.params).filter(([name]) => {
      const param = lesson.params[name];
      return param !== undefined && wanted(param);
    }),
  );
}

/** Whether pressing the button *run* would repeat the run on the stage. */
export function sameRun(run: Knobs, wanted: Knobs): boolean {
  return (
    run.clock === wanted.clock &&
    run.workload === wanted.workload &&
    wanted.arms.every((a) => run.arms.includes(a)) &&
    Object.entries(wanted.params).every(([k, v]) => (run.params[k] ?? v) === v)
  );
}

/** Format a knob's value with its unit. */
function valueWords(param: Param, value: number): string {
  const at = param.choices?.indexOf(value) ?? -1;
  const label = at >= 0 ? param.labels?.[at] : undefined;
  if (label) return label;
  if (param.type === 'bool') return value === 0 ? t('no') : t('yes');
  if (value === 0 && param.min === 0) return t('never');
  return param.unit ? `${value} ${param.unit}` : String(value);
}

/** Format a knob's value with its noun: "9 hogs". If the value is a choice with a name: "spinlocks: queued". */
export function knobWords(lesson: Pick<Lesson, 'params'>, name: string, value: number): string {
  const param = lesson.params[name];
  if (!param) return `${name} ${value}`;
  if (param.role === 'duration') return valueWords(param, value);
  if (param.type !== 'int') return `${param.title}: ${valueWords(param, value)}`;
  if (param.title.endsWith('s') && !param.unit) return plural(value, param.title.slice(0, -1));
  return `${param.title} ${valueWords(param, value)}`;
}

/** Describe the parameters of a run. Parameters without a role are omitted if they have their default. */
export function paramWords(
  lesson: Pick<Lesson, 'params'>,
  params: Readonly<Record<string, number>>,
): readonly string[] {
  return Object.entries(lesson.params)
    .filter(([, p]) => p.applies !== 'model')
    .filter(([k, p]) => k in params && (p.role != null || params[k] !== p.default))
    .map(([k]) => knobWords(lesson, k, params[k] ?? 0));
}

// Describes the run on the stage in one line, and how the next run would differ from it. Pure.

/** Knobs of the run on the stage. Knobs that were added to the lesson later may be missing. */
type Shown = Pick<Knobs, 'params' | 'clock'>;

/** Guest time of the longest lane of a recording, ns; null for live runs and without a run. */
export function recordedNs(
  run: Pick<RunMessage, 'source'> | null,
  index: Pick<RunIndex, 'lanes'> | null,
): number | null {
  if (run?.source !== 'recorded' || index === null || index.lanes.length === 0) return null;
  return Math.max(...index.lanes.map((lane) => lane.watermark));
}

/** A recording counts as complete if it covers at least this share of its planned time. */
const whole = 0.95;

/** Return "first 0.5 s recorded" if a recording was cut (docs/RECORDINGS.md), otherwise an empty text. */
function cutWords(seconds: number, recorded: number | null): string {
  const kept = recorded === null ? seconds : recorded / 1e9;
  if (kept <= 0 || kept >= whole * seconds) return '';
  return t('first {seconds} s recorded', {
    seconds: formatFigure(Number(kept.toPrecision(1))),
  });
}

/**
 * Describe the run on the stage: "2 kernels, 2 vCPUs (next run: 4), 1 s, wall clock". Without a run, describe the next
 * run. Knobs without a role are omitted if they have their default, and the knob `inSight` is omitted because the page
 * shows it in another place. Knobs that differ in the next run are never omitted.
 *
 * @param recorded see recordedNs()
 */
export function runLine(
  lesson: Pick<Lesson, 'params'>,
  shown: Shown | null,
  knobs: Knobs,
  inSight: string,
  recorded: number | null = null,
): string {
  const words = Object.entries(lesson.params).flatMap(([name, param]) => {
    const next = knobs.params[name];
    if (param.applies === 'model' || next === undefined) return [];
    const now = shown?.params[name] ?? next;
    const usual = param.role == null && now === param.default;
    if (now === next && (usual || name === inSight)) return [];
    const cut = param.role === 'duration' && shown !== null ? cutWords(now, recorded) : '';
    const other = now === next ? '' : t('next run: {param}', { param: valueWords(param, next) });
    const more = [cut, other].filter((part) => part !== '').join('; ');
    return [`${knobWords(lesson, name, now)}${more && ` (${more})`}`];
  });
  const clock = shown?.clock ?? knobs.clock;
  const other =
    clock === knobs.clock ? '' : t(' (next run: {clock} clock)', { clock: knobs.clock });
  return [
    t('{arms, plural, one {# lane} other {# lanes}}', { arms: knobs.arms.length }),
    ...words,
    t('{clock} clock{other}', { clock, other }),
  ].join(', ');
}
