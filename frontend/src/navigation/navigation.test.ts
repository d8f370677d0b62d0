// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests which run and which moment a page shows, without React, a server or a clock. */

import { beforeEach, describe, expect, it } from 'vitest';
import { lesson, ms, one, Page, shownRun, three } from '../../test/fixtures/navigation.ts';
import { recordingId } from '../derive/recording.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { firstKnobs, knobsAt, withParam } from './knobs.ts';
import {
  armsOf,
  recordingInstead,
  sceneOf,
  stepAfter,
  toCell,
  togglePane,
  toKnobs,
  toNewRun,
  toRecording,
  toRun,
  toStep,
  type World,
} from './navigation.ts';
import { frontPage, readPlace } from './place.ts';

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

  it('back at the recording, knobs that were turned for a run are as the step has them', () => {
    const page = new Page('step=one&run=live-9&clock=count&hogs=9');
    page.go(toRecording('one'));
    expect(page.place).toMatchObject({ run: 'one', knobs: null, clock: null, workload: null });
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

describe('a knob that was turned', () => {
  const five = recordingId(lesson, { name: 'five' });
  const step = () => sceneOf(lesson, 'one');
  const turned = (page: Page, hogs: number) => {
    const now = knobsAt(lesson, step(), page.place);
    const wanted = withParam(lesson, now, 'hogs', hogs);
    page.go(toKnobs(lesson, step(), now, wanted, page.runs.run as RunMessage));
  };

  it('plays the run that is recorded for its value, and the step’s own once it is turned back', () => {
    const page = new Page('step=one');
    page.comes(one);
    page.take();
    turned(page, 5);
    expect(page.take()).toEqual([`open ${five}`]);
    page.comes(five);
    expect(page.take()).toEqual(['goto one', 'align time']);
    turned(page, 1);
    expect(page.take()).toEqual([`open ${one}`]);
  });

  it('leaves the run on the stage if nothing is recorded for its value', () => {
    const page = new Page('step=one');
    page.comes(one);
    page.take();
    turned(page, 4);
    expect(page.take()).toEqual([]);
  });

  it('gives up the run and the moment in the address only for a recorded run', () => {
    const page = new Page('step=one');
    page.comes(one);
    page.plays({ mode: 'paused', moment: 3 * ms });
    page.rests();
    page.take();
    expect(page.place.run).toBe('one');
    turned(page, 5);
    expect(page.place).toMatchObject({ run: null, moment: null, knobs: { hogs: 5 } });
    // Another choice of lanes is the same run.
    const here = knobsAt(lesson, step(), { knobs: null, clock: null, workload: null });
    const lanes = { ...here, arms: ['srcu'] };
    expect(toKnobs(lesson, step(), here, lanes, shownRun(one, 'recorded', 1))).not.toHaveProperty(
      'run',
    );
    const live = shownRun('live-1', 'live', 1);
    const now = knobsAt(lesson, step(), page.place);
    expect(toKnobs(lesson, step(), now, now, live)).not.toHaveProperty('run');
  });

  it('in the address opens its run, also when the page opens', () => {
    const page = new Page('step=one&knobs=hogs:5');
    expect(page.awaited).toBe(five);
    expect(page.take()).toEqual([`open ${five}`]);
  });

  it('is set by a point of a curve, together with the run', () => {
    const [cell] = lesson.cells;
    const change = toCell(lesson, step(), firstKnobs(lesson), cell!);
    expect(change).toMatchObject({ run: 'five', moment: null, knobs: { hogs: 5 } });
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

  it('stays from step to step while no run is named', () => {
    const page = new Page('step=one');
    page.comes('live-7', 'live');
    page.take();
    page.go({ step: 'three' });
    expect(page.shown.awaiting).toBe(false);
    expect(page.take()).toEqual(['goto three', 'align time']);
  });

  it('gives way to the recording of a step that speaks of other knobs, and Back leads to it', () => {
    const page = new Page('step=one&run=live-7');
    page.comes('live-7', 'live');
    page.take();
    const [to] = lesson.scenes.slice(1);
    page.go({ step: 'three', run: recordingInstead(lesson, to!, shownRun('live-7', 'live', 1)) });
    expect(page.take()).toContain(`open ${three}`);
    page.comes(three);
    expect(page.shown).toMatchObject({ settled: true, runName: 'three' });
    page.visits('step=one&run=live-7');
    expect(page.take()).toContain('open live-7');
  });

  it('of the knobs of the step stays, and so does a recording, which is chosen anew', () => {
    const [, to] = lesson.scenes;
    expect(recordingInstead(lesson, to!, shownRun('live-7', 'live', 3))).toBeNull();
    expect(recordingInstead(lesson, to!, shownRun('kept:mine', 'recorded', 3))).toBeNull();
    expect(recordingInstead(lesson, to!, shownRun('kept:mine', 'recorded', 1))).toBe('three');
    expect(recordingInstead(lesson, to!, shownRun(one, 'recorded', 1))).toBeNull();
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

  it('an optional arm takes part once it is chosen', () => {
    const [first, ...rest] = lesson.arms;
    const marked = { ...lesson, arms: [first, ...rest.map((a) => ({ ...a, optional: true }))] };
    expect(firstKnobs(marked as typeof lesson).arms).toEqual([first?.name]);
  });

  it('a knob is written where it stands elsewhere than the step puts it', () => {
    const turned = { ...knobs, params: { ...knobs.params, hogs: 5 } };
    expect(toKnobs(lesson, scene, knobs, turned, null)).toMatchObject({ knobs: { hogs: 5 } });
    expect(toKnobs(lesson, scene, knobs, knobs, null)).not.toHaveProperty('arms');
    expect(toKnobs(lesson, scene, knobs, { ...knobs, arms: ['srcu'] }, null).arms).toEqual([
      'srcu',
    ]);
  });

  it('on the count clock there is one CPU, and the clock is written', () => {
    const counted = toKnobs(lesson, scene, knobs, { ...knobs, clock: 'count' }, null);
    expect(counted).toMatchObject({ clock: 'count', knobs: null });
  });

  it('a pane opens and closes', () => {
    expect(togglePane([], 'words')).toEqual({ panes: ['words'] });
    expect(togglePane(['words', 'knobs'], 'words')).toEqual({ panes: ['knobs'] });
    expect(togglePane(['words'], 'words', true)).toEqual({ panes: ['words'] });
  });

  it('present mode shows every lane of the step; unknown arms are left out', () => {
    const at = (search: string) =>
      armsOf(lesson, sceneOf(lesson, 'three'), readPlace(`?${search}`));
    expect(at('present=1')).toEqual(['rwsem', 'srcu']);
    expect(at('arms=srcu,nothing')).toEqual(['srcu']);
    expect(at('arms=nothing')).toEqual(['rwsem', 'srcu']);
    expect(sceneOf(lesson, 'nowhere').id).toBe('one');
    const scenes = lesson.scenes.map((one) =>
      one.id === 'three' ? { ...one, was: ['old'] } : one,
    );
    expect(sceneOf({ ...lesson, scenes }, 'old').id).toBe('three');
    expect(frontPage.step).toBeNull();
  });

  it('shows a changed arm of the run, until it names its lanes', () => {
    const own = { ...lesson.arms[0]!, name: 'own-rwsem-0123456789' };
    const changed = { ...lesson, arms: [...lesson.arms, own] };
    const scene = sceneOf(changed, 'three');
    const ran = [...scene.arms, own.name, 'own-gone-0123456789'];
    expect(armsOf(changed, scene, { arms: null }, ran)).toEqual([...scene.arms, own.name]);
    expect(armsOf(changed, scene, { arms: ['srcu'] }, ran)).toEqual(['srcu']);
    expect(armsOf(lesson, scene, { arms: null }, ran)).toBe(scene.arms);
  });
});
