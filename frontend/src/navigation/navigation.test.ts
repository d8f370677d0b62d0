// SPDX-License-Identifier: GPL-2.0-or-later
/** Which run and which moment a page shows, driven without React, a server or a clock. */

import { beforeEach, describe, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { ns } from '../base/units.ts';
import { recordingId } from '../derive/recording.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { firstKnobs } from './knobs.ts';
import { stepAfter, togglePane, toKnobs, toNewRun, toRun, toStep } from './moves.ts';
import { adopt, type Command, read, reduce, type State, start, type World } from './navigation.ts';
import { frontPage, type Place, readPlace } from './place.ts';
import { armsOf, sceneOf } from './scene.ts';

const ms = 1e6;
const recordings = [
  { name: 'one', arms: ['rwsem', 'srcu'], params: { hogs: 1 }, clock: 'wall', workload: null },
  { name: 'three', arms: ['rwsem', 'srcu'], params: { hogs: 3 }, clock: 'wall', workload: null },
];
const lesson = { ...testLesson(), recordings } as unknown as Lesson;
const [one, three] = ['one', 'three'].map((name) => recordingId(lesson, { name })) as [
  string,
  string,
];

/** A page without React: it reports until nothing is left to do, and notes what it was asked for. */
class Page {
  place: Place;
  visit = 0;
  index: World['index'] = null;
  whole = false;
  runs: NonNullable<World['runs']> = { run: null, pending: null, begun: null, lost: new Set() };
  playback: World['playback'] = {
    mode: 'scope',
    moment: 0,
    start: 0,
    span: 30 * ms,
    speed: 0.01,
    alignment: 'time',
    operation: 1,
  } as World['playback'];
  /** The timers of the page: what is to be written, and which run is awaited. */
  toWrite: Partial<Place> | null = null;
  awaited: string | null = null;
  log: string[] = [];
  readonly #pinned: boolean;
  readonly #state: { now: State };

  constructor(search: string, { pinned = false, before = {} as Partial<World['runs']> } = {}) {
    this.#pinned = pinned;
    this.place = readPlace(`?lesson=${lesson.slug}&${search}`);
    this.runs = { ...this.runs, ...before };
    const { run, step } = this.place;
    this.#state = { now: start(this.world(), { run, step }) };
    this.report();
  }

  world(): World {
    const { place, visit, index, whole, playback } = this;
    const scene = sceneOf(lesson, place.step);
    const runs = this.#pinned ? null : this.runs;
    return { lesson, scene, place, visit, index, whole, playback, runs };
  }

  get shown() {
    return read(this.#state.now, this.world());
  }

  report(change: Partial<Pick<Page, 'index' | 'whole' | 'place' | 'visit'>> = {}): void {
    Object.assign(this, change);
    for (let turn = 0; turn < 20; turn++) {
      const [next, commands] = reduce(this.#state.now, { type: 'world', world: this.world() });
      const same = next === this.#state.now;
      this.#state.now = adopt(this.#state.now, next);
      for (const command of commands) this.#perform(command);
      if (same && commands.length === 0) return;
      expect(same && commands.length > 0, 'commands without a change of state').toBe(false);
    }
    throw new Error('The page does not come to rest.');
  }

  go(change: Partial<Place>): void {
    this.report({ place: { ...this.place, ...change } });
  }

  /** The browser's Back, Forward, or a link. */
  visits(search: string): void {
    const place = readPlace(`?lesson=${lesson.slug}&${search}`);
    this.report({ place, visit: this.visit + 1 });
  }

  says(change: Partial<Page['runs']>): void {
    this.runs = { ...this.runs, ...change };
    this.report();
  }

  plays(change: Partial<Record<keyof World['playback'], unknown>>): void {
    this.playback = { ...this.playback, ...change } as World['playback'];
    this.report();
  }

  /** All of a run is here. */
  comes(run: string, source: 'recorded' | 'live' = 'recorded'): void {
    const live = source === 'live';
    const reading = live ? 'unknown' : 'whole';
    this.runs = { ...this.runs, run: { run_id: run, source }, pending: null };
    const lanes = [{ watermark: ns(1000 * ms) }, { watermark: ns(1000 * ms) }];
    this.report({ whole: true, index: { runId: run, live, reading, lanes } as World['index'] });
  }

  /** A recording up to this guest time, with more to come. */
  comesTo(run: string, watermark: number): void {
    this.runs = { ...this.runs, run: { run_id: run, source: 'recorded' }, pending: null };
    const lanes = [{ watermark: ns(watermark) }, { watermark: ns(watermark + ms) }];
    const index = { runId: run, live: false, reading: 'coming', lanes };
    this.report({ whole: false, index: index as World['index'] });
  }

  late(): void {
    const run = this.awaited;
    if (run === null) throw new Error('No run is awaited.');
    this.awaited = null;
    [this.#state.now] = reduce(this.#state.now, { type: 'late', run });
    this.report();
  }

  /** The page rests: what is to be written is. */
  rests(): void {
    const change = this.toWrite;
    this.toWrite = null;
    if (change !== null) this.go(change);
  }

  take(): string[] {
    const { log } = this;
    this.log = [];
    return log;
  }

  #perform(command: Command): void {
    switch (command.type) {
      case 'open':
        this.log.push(`open ${command.run}`);
        break;
      case 'await':
        this.awaited = command.run;
        break;
      case 'forgive':
        this.runs = {
          ...this.runs,
          lost: new Set([...this.runs.lost].filter((id) => id !== command.run)),
        };
        this.log.push(`forgive ${command.run}`);
        break;
      case 'go':
        this.log.push(`go ${JSON.stringify(command.change)}`);
        this.place = { ...this.place, ...command.change };
        break;
      case 'write':
        this.toWrite = command.change;
        break;
      case 'goto': {
        const { scene, paused } = command;
        this.log.push(`goto ${scene.id}${paused ? ' still' : ''}`);
        const mode = paused ? 'paused' : 'scope';
        this.playback = { ...this.playback, mode, speed: 0.01 };
        const [now] = reduce(this.#state.now, { type: 'went', speed: 0.01 });
        this.#state.now = now;
        break;
      }
      case 'look': {
        const { start, span, moment } = command;
        this.log.push(`look ${start / ms}+${span / ms} at ${moment / ms}`);
        this.playback = { ...this.playback, start, span, moment } as World['playback'];
        break;
      }
      case 'seek':
        this.log.push(`seek ${command.moment / ms}`);
        this.playback = { ...this.playback, moment: command.moment } as World['playback'];
        break;
      case 'align':
        this.log.push(`align ${command.by}`);
        this.playback = { ...this.playback, alignment: command.by };
        break;
      case 'speed':
        this.log.push(`speed ${command.speed}`);
        this.playback = { ...this.playback, speed: command.speed };
    }
  }
}

const noRun = '{"run":null,"moment":null,"window":null,"nth":null}';
const live = { run_id: 'live-7', source: 'live' } as const;

describe('a recording that fits the step', () => {
  let page: Page;
  beforeEach(() => {
    page = new Page('step=one');
  });

  it('was asked for when the page opened, and is awaited', () => {
    expect(page.take()).toEqual([]);
    expect(page.shown).toMatchObject({ awaiting: true, settled: false });
    expect(page.awaited).toBe(one);
  });

  it('is gone into when all of it is here', () => {
    page.comes(one);
    expect(page.take()).toEqual(['goto one', 'align time']);
    expect(page.shown).toMatchObject({ awaiting: false, settled: true, whole: true });
    expect(page.shown.usual).toMatchObject({ speed: 0.01, align: 'time' });
    expect(page.awaited).toBeNull();
  });

  it('gives way to the one of the next step, which is awaited', () => {
    page.comes(one);
    page.take();
    page.go(toStep(lesson, sceneOf(lesson, 'one'), firstKnobs(lesson), 'three'));
    expect(page.take()).toEqual([`open ${three}`]);
    expect(page.shown).toMatchObject({ awaiting: true, settled: false, whole: false });
    page.comes(three);
    expect(page.take()).toEqual(['goto three', 'align time']);
  });

  it('is not waited for longer than the patience', () => {
    page.late();
    expect(page.shown.awaiting).toBe(false);
    expect(page.take()).toEqual([]);
    page.comes('recorded:02-grace-periods:other');
    expect(page.shown).toMatchObject({ awaiting: false, settled: true });
  });

  it('is gone into once, whatever comes later', () => {
    page.comes(one);
    page.take();
    page.comes(one);
    page.plays({ moment: 3 * ms });
    expect(page.take()).toEqual([]);
  });
});

describe('a link', () => {
  const search = 'step=three&run=three&at=40&from=30&for=20&speed=0.5';

  it('restores run, window, moment and speed', () => {
    const page = new Page(search);
    page.comes(three);
    expect(page.take()).toEqual([
      'goto three still',
      'align time',
      'speed 0.5',
      'look 30+20 at 40',
    ]);
    expect(page.shown).toMatchObject({ settled: true, runName: 'three' });
  });

  it('without a window goes to its moment alone', () => {
    const page = new Page('step=three&run=three&at=40');
    page.comes(three);
    expect(page.take()).toEqual(['goto three still', 'align time', 'seek 40']);
  });

  it('shows its window before all of the recording is here', () => {
    const page = new Page(search);
    page.comesTo(three, 20 * ms);
    expect(page.take()).toEqual(['goto three still', 'look 30+20 at 40']);
    expect(page.shown.settled).toBe(false);
    page.comesTo(three, 35 * ms);
    expect(page.take()).toEqual([]);
    page.comesTo(three, 50 * ms);
    expect(page.take()).toEqual([
      'goto three still',
      'align time',
      'speed 0.5',
      'look 30+20 at 40',
    ]);
    expect(page.shown).toMatchObject({ settled: true, whole: false });
    page.comes(three);
    expect(page.take()).toEqual([]);
  });

  it('that aligns by operation waits for the whole recording', () => {
    const page = new Page(`${search}&align=operation&n=3`);
    page.comesTo(three, 500 * ms);
    expect(page.shown.settled).toBe(false);
    page.take();
    page.comes(three);
    expect(page.take()).toContain('align operation');
  });

  it('waits for its recording however long that takes', () => {
    const page = new Page(search);
    expect(page.shown.awaiting).toBe(true);
    expect(page.awaited).toBeNull();
  });

  it('of a step that the viewer left is not restored in the next one', () => {
    const page = new Page(search);
    page.comes(three);
    page.take();
    page.go({
      ...toStep(lesson, sceneOf(lesson, 'three'), firstKnobs(lesson), 'one'),
      run: 'three',
    });
    expect(page.take()).toEqual(['goto one', 'align time']);
  });

  it('that Back leads to is restored again', () => {
    const page = new Page(search);
    page.comes(three);
    page.plays({ moment: 45 * ms });
    page.take();
    page.visits('step=three&run=three&at=41&from=31&for=20');
    expect(page.take()).toEqual(['goto three still', 'align time', 'look 31+20 at 41']);
  });

  it('in a frame of slides decides as on the page', () => {
    const page = new Page(`${search}&embed=1`);
    page.comes(three);
    expect(page.take()).toEqual([
      'goto three still',
      'align time',
      'speed 0.5',
      'look 30+20 at 40',
    ]);
  });

  it('to a lost run leaves it for the one that fits, and says nothing of its moment', () => {
    const page = new Page('step=three&run=live-5&at=40&from=30&for=20');
    expect(page.awaited).toBe('live-5');
    page.says({ lost: new Set(['live-5']) });
    expect(page.take()).toEqual([
      `go ${noRun}`,
      'forgive live-5',
      'forgive live-5',
      `open ${three}`,
    ]);
    page.comes(three);
    expect(page.take()).toEqual(['goto three', 'align time']);
  });

  it('to a run that never comes is left after the patience', () => {
    const page = new Page('step=three&run=live-5');
    page.late();
    expect(page.place.run).toBeNull();
    expect(page.take().at(-1)).toBe(`open ${three}`);
  });
});

describe('the address', () => {
  it('names run, moment and window once the moment stands still, and not while it moves', () => {
    const page = new Page('step=one');
    page.comes(one);
    expect(page.toWrite).toEqual({
      moment: null,
      window: null,
      speed: null,
      align: null,
      nth: null,
    });
    page.plays({ mode: 'paused', moment: 5.4, start: 1, span: 2 * ms });
    page.rests();
    expect(page.place).toMatchObject({ run: 'one', moment: 5, window: { start: 1, span: 2 * ms } });
    expect(page.take()).toEqual(['goto one', 'align time']);
    page.plays({ mode: 'play' });
    page.rests();
    expect(page.place).toMatchObject({ run: 'one', moment: null, window: null });
  });

  it('names a speed and an alignment that the step does not choose itself', () => {
    const page = new Page('step=one');
    page.comes(one);
    page.plays({ speed: 0.2, alignment: 'operation' });
    expect(page.toWrite).toMatchObject({ speed: 0.2, align: 'operation', nth: null });
    page.plays({ mode: 'paused', operation: 9 });
    expect(page.toWrite).toMatchObject({ nth: 9 });
  });

  it('forgets what was to be written when another run is awaited', () => {
    const page = new Page('step=one');
    page.comes(one);
    page.plays({ mode: 'paused' });
    page.go(toRun('live-9'));
    expect(page.toWrite).toBeNull();
    page.rests();
    expect(page.place.moment).toBeNull();
  });
});

describe('a live run', () => {
  it('that boots is not disturbed, and no run is named', () => {
    const page = new Page('step=one');
    page.comes(one);
    page.take();
    page.go(toNewRun);
    page.says({ pending: live });
    expect(page.shown).toMatchObject({ coming: true, awaiting: false, runName: null });
    page.go({ step: 'three' });
    expect(page.take()).toEqual(['goto three', 'align time']);
  });

  it('that this page asked for is named by the address as soon as it begins', () => {
    const page = new Page('step=one&at=3');
    page.comes(one);
    page.take();
    page.says({ pending: live, begun: 'live-7' });
    expect(page.take()).toEqual([
      `go ${JSON.stringify({ run: 'live-7', moment: null, window: null, nth: null })}`,
    ]);
    page.comes('live-7', 'live');
    expect(page.take()).toEqual(['goto one', 'align time']);
    expect(page.shown).toMatchObject({ settled: true, runName: 'live-7' });
  });

  it('that began before the page opened is followed already', () => {
    const page = new Page('step=one', { before: { begun: 'live-7' } });
    expect(page.take()).toEqual([]);
    expect(page.place.run).toBeNull();
  });

  it('stays from step to step, whatever its knobs are', () => {
    const page = new Page('step=one');
    page.comes('live-7', 'live');
    page.take();
    page.go({ step: 'three' });
    expect(page.shown.awaiting).toBe(false);
    expect(page.take()).toEqual(['goto three', 'align time']);
  });

  it('is looked through for the moment of the step when it ends', () => {
    const page = new Page('step=one');
    page.comes('live-7', 'live');
    page.take();
    const ended = { ...page.index, live: false } as World['index'];
    page.report({ index: ended });
    expect(page.take()).toEqual(['goto one']);
    page.report({ index: { ...ended } as World['index'] });
    expect(page.take()).toEqual([]);
  });

  it('that ends leaves a viewer who has stopped where he is', () => {
    const page = new Page('step=one');
    page.comes('live-7', 'live');
    page.plays({ mode: 'paused' });
    page.take();
    page.report({ index: { ...page.index, live: false } as World['index'] });
    expect(page.take()).toEqual([]);
  });

  it('that fails before its first events gives way', () => {
    const page = new Page('step=one&run=live-7', { before: { pending: live } });
    page.says({ pending: null, lost: new Set(['live-7']) });
    expect(page.place.run).toBeNull();
    expect(page.take()).toContain(`open ${one}`);
  });
});

describe('a run with other knobs than the step speaks of', () => {
  it('gives way where it is a recording that nobody named', () => {
    const page = new Page('step=three');
    page.comes(one);
    expect(page.shown.awaiting).toBe(true);
  });

  it('stays where the address names it', () => {
    const page = new Page('step=three&run=one');
    page.comes(one);
    expect(page.shown).toMatchObject({ awaiting: false, settled: true });
    expect(page.take()).toEqual(['goto three', 'align time']);
  });

  it('stays where it is a saved one', () => {
    const page = new Page('step=three&run=kept:02-grace-periods:mine');
    page.comes('kept:02-grace-periods:mine');
    page.go({ run: null, step: 'one' });
    expect(page.shown.awaiting).toBe(false);
    expect(page.take().filter((line) => line.startsWith('open'))).toEqual([]);
  });
});

describe('two runs side by side', () => {
  it('open nothing, follow nothing, and are named by the address', () => {
    const page = new Page('step=one&run=three&with=one', { pinned: true });
    page.report({
      whole: true,
      index: {
        runId: 'three beside one',
        live: false,
        reading: 'whole',
        lanes: [],
      } as World['index'],
    });
    page.says({ begun: 'live-7', lost: new Set(['three']) });
    expect(page.take()).toEqual(['goto one', 'align time']);
    expect(page.shown).toMatchObject({ awaiting: false, settled: true, runName: 'three' });
    expect(page.place.run).toBe('three');
  });
});

describe('what a viewer does', () => {
  const scene = sceneOf(lesson, 'one');
  const knobs = { ...firstKnobs(lesson), params: { ...firstKnobs(lesson).params, hogs: 1 } };

  it('a step takes its own knobs and forgets run, moment and lanes', () => {
    expect(toStep(lesson, scene, knobs, 'three')).toMatchObject({
      step: 'three',
      run: null,
      moment: null,
      arms: null,
      knobs: null,
    });
    expect([1, 2, -1].map((by) => stepAfter(lesson, scene, by))).toEqual(['three', null, null]);
  });

  it('a knob is written where it stands elsewhere than the step puts it', () => {
    const turned = { ...knobs, params: { ...knobs.params, hogs: 5 } };
    expect(toKnobs(lesson, scene, knobs, turned)).toMatchObject({ knobs: { hogs: 5 } });
    expect(toKnobs(lesson, scene, knobs, knobs)).not.toHaveProperty('arms');
    expect(toKnobs(lesson, scene, knobs, { ...knobs, arms: ['srcu'] }).arms).toEqual(['srcu']);
  });

  it('on the count clock there is one CPU, and the clock is written', () => {
    const counted = toKnobs(lesson, scene, knobs, { ...knobs, clock: 'count' });
    expect(counted).toMatchObject({ clock: 'count', knobs: null });
  });

  it('a pane opens and closes', () => {
    expect(togglePane([], 'words')).toEqual({ panes: ['words'] });
    expect(togglePane(['words', 'knobs'], 'words')).toEqual({ panes: ['knobs'] });
    expect(togglePane(['words'], 'words', true)).toEqual({ panes: ['words'] });
  });

  it('present mode shows the two lanes of the prediction; unknown arms are left out', () => {
    const at = (search: string) =>
      armsOf(lesson, sceneOf(lesson, 'three'), readPlace(`?${search}`));
    expect(at('present=1')).toEqual(['rwsem', 'srcu']);
    expect(at('arms=srcu,nothing')).toEqual(['srcu']);
    expect(at('arms=nothing')).toEqual(['rwsem', 'srcu']);
    expect(sceneOf(lesson, 'nowhere').id).toBe('one');
    expect(frontPage.step).toBeNull();
  });
});
