// SPDX-License-Identifier: GPL-2.0-or-later
/** For tests: a small lesson in the server's shape, and messages with every field. */

import { type Lesson, lesson as schema } from '../protocol/lesson.ts';
import { type MeasuredMessage, measured, type RunMessage, run } from '../protocol/messages.ts';

const patch = `diff --git a/mm/vmscan.c b/mm/vmscan.c
--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -10,2 +10,3 @@ void unregister_shrinker(struct shrinker *shrinker)
 	down_write(&shrinker_rwsem);
-	list_del(&shrinker->list);
+	list_del_rcu(&shrinker->list);
+	synchronize_srcu(&shrinker_srcu);
@@ -30,1 +31,2 @@ void synchronize_shrinkers(void)
 	up_write(&shrinker_rwsem);
+	synchronize_srcu(&shrinker_srcu);
`;

export function testLesson(): Lesson {
  return schema.parse({
    slug: '02-grace-periods',
    title: 'Grace periods',
    question: 'Why did umount become slower?',
    summary: '',
    clock: 'wall',
    clocks: ['wall', 'count'],
    view: 'hog-rows',
    operation: { name: 'umount', plural: 'umounts' },
    arms: [
      { name: 'rwsem', title: 'rwsem', role: 'before', summary: 'stock', patches: [] },
      {
        name: 'srcu',
        title: 'SRCU',
        role: 'after',
        summary: 'lockless',
        patches: ['srcu.patch'],
        patch_texts: [{ file: 'srcu.patch', subject: '', body: '', text: patch }],
      },
    ],
    params: {
      hogs: { title: 'hogs', help: 'processes', default: 3, min: 1, max: 9 },
      vcpus: { title: 'vCPUs', help: 'CPUs', default: 2, min: 1, max: 4, applies: 'boot' },
      seconds: { title: 'seconds', help: 'how long', default: 3, min: 1, max: 60, unit: 's' },
      exp_holdoff: {
        title: 'auto-expedite',
        help: 'idle SRCU answers at once',
        type: 'choice',
        default: 25000,
        choices: [25000, 0],
        labels: ['on', 'off'],
        applies: 'boot',
      },
    },
    workloads: { storm: { title: 'mount storm', summary: 'ours' } },
    kinds: [
      { name: 'running', title: 'running', colour: 'work', layer: 'state' },
      { name: 'wait_srcu', title: 'waits for SRCU', colour: 'wait', layer: 'state' },
      { name: 'srcu_call', title: 'inside synchronize_srcu', colour: 'wait', layer: 'function' },
      { name: 'unregister', title: 'inside unregister', colour: 'work', layer: 'function' },
    ],
    lit: [
      { match: 'synchronize_srcu(&shrinker_srcu)', kind: 'srcu_call', arms: ['srcu'] },
      { match: 'list_del_rcu(&shrinker->list)', kind: 'unregister', arms: ['srcu'] },
    ],
    scenes: [
      { id: 'one', title: 'One', arms: ['rwsem'], params: { hogs: 1 }, window_ms: 2 },
      {
        id: 'three',
        title: 'Three',
        arms: ['rwsem', 'srcu'],
        params: { hogs: 3 },
        window_ms: 30,
        show: ['knobs', 'patch', 'latency'],
        predict: 'three',
      },
    ],
    predictions: {
      three: {
        question: 'How many for ten?',
        choices: ['few', 'some', 'many'],
        metric: 'ops_ratio',
        arms: ['srcu', 'rwsem'],
        bounds: [0.3, 0.8],
        params: { hogs: 3 },
      },
    },
    questions: [{ ask: 'Point at a wait.', kind: 'wait_srcu', arm: 'srcu', why: 'Because.' }],
    caveats: ['Guests are emulated.'],
    content: {},
    recordings: [],
    ready: { rwsem: true },
  });
}

export function testRun(change: Partial<RunMessage> = {}): RunMessage {
  return {
    ...run.parse({
      type: 'run',
      run_id: 'recorded:nine',
      lesson: '02-grace-periods',
      source: 'recorded',
      purpose: 'explain',
      clock: 'wall',
      params: { hogs: 9, vcpus: 2 },
      workload: 'storm',
      arms: ['rwsem', 'srcu'],
      phase: 'done',
      recorded_at: '2026-03-01T10:00:00Z',
    }),
    ...change,
  };
}

export function testMeasured(change: Partial<MeasuredMessage> = {}): MeasuredMessage {
  return {
    ...measured.parse({
      type: 'measured',
      lesson: '02-grace-periods',
      source: 'live',
      clock: 'wall',
      params: { hogs: 9, vcpus: 2 },
      workload: 'storm',
      at: '2026-03-01T10:00:00Z',
      verdict: '',
      host: 'QEMU 7.2, 2 CPUs',
      command: '',
      done: 6,
      total: 6,
      rows: [
        {
          arm: 'rwsem',
          n: 3,
          ops_per_s: [910, 922.4, 930],
          ops_per_s_median: 922.4,
          ops_per_s_mean: 920.8,
          unit: 'umounts/s',
        },
        {
          arm: 'srcu',
          n: 3,
          ops_per_s: [230, 231, 240],
          ops_per_s_median: 231,
          ops_per_s_mean: 233.7,
          unit: 'umounts/s',
          to: 'rwsem',
          change_percent: -75,
          verdict: 'no verdict: n < 5',
        },
      ],
    }),
    ...change,
  };
}
