// SPDX-License-Identifier: GPL-2.0-or-later
/** One swatch for each thing that the bands of a step can show. Pure. */

import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';

/** What each part of a step draws; the rest is drawn where its events are. */
const bands: Readonly<Record<string, readonly string[]>> = {
  inode: ['alive', 'queued', 'free', 'shadow', 'early', 'reuse'],
  inodes: ['alive', 'queued', 'shadow', 'early'],
  flow: ['alive', 'listed', 'taken', 'shadow', 'early'],
  queue: ['listed', 'taken', 'batch', 'worker_wait'],
  worker: ['batch', 'worker_wait'],
  ticks: ['tick_ended', 'tick'],
  walker: ['walker'],
};

/** Used again: not where a workload only removes. */
const again: ReadonlySet<string> = new Set(['early', 'reuse']);

/** How long readers may have been there is shown where inodes are that they may have found. */
export function showsReaders(show: readonly string[] | undefined): boolean {
  return show === undefined || show.includes('inode') || show.includes('inodes');
}

/** `there`: kinds that the run has; null: not known yet, so those that the step speaks of. */
export function legend(
  lesson: Pick<Lesson, 'kinds'>,
  { focus, show, workload, arms }: Pick<Scene, 'focus' | 'show' | 'workload' | 'arms'>,
  there: ReadonlySet<string> | null,
): readonly Kind[] {
  const parts = new Set(show.flatMap((part) => bands[part] ?? []));
  if (show.includes('queue') && arms.includes('call-rcu')) parts.add('rcu');
  return lesson.kinds.filter(({ name, layer }) => {
    if (layer === 'function') return false;
    if (layer === 'mark') return parts.has(name) && !(workload === 'removal' && again.has(name));
    if (name === 'may_read' && !showsReaders(show)) return false;
    return there?.has(name) ?? (focus.includes(name) || layer === 'track');
  });
}
