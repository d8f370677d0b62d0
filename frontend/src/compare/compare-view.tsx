// SPDX-License-Identifier: GPL-2.0-or-later
/** Two recordings of a lesson beside each other: first what they differ in, then their lanes on one axis. */

import { useEffect, useMemo } from 'react';
import { t } from '../base/lang/t.ts';
import { useFollowAway } from '../classroom/use-in-compare.ts';
import { pairIndex } from '../derive/pair.ts';
import { lessonOfRun } from '../derive/run-index.ts';
import type { RunIndex } from '../derive/types.ts';
import { sceneOf } from '../navigation/navigation.ts';
import type { Place } from '../navigation/place.ts';
import type { Go } from '../navigation/use-navigation.ts';
import { NoticeLines } from '../panels/notices.tsx';
import { LanesProvider } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import type { Comparison } from '../runs/saved-runs.tsx';
import { useLesson, useStore } from '../store/hooks.tsx';
import { Mark } from '../ui/parts.tsx';
import { allViews } from '../views/registry.ts';
import { CompareViewPage } from './compare-view-page.tsx';
import type { Runs } from './runs.ts';
import {
  comparedId,
  indexOf,
  useComparison,
  useNews,
  useOpened,
  useSecondStore,
} from './use-compare-view.ts';

interface Props {
  readonly slug: string;
  readonly place: Place & { readonly beside: string };
  readonly go: Go;
  readonly visit: number;
}

export function CompareView({ slug, place, go, visit }: Props) {
  const lesson = useLesson();
  const first = useStore();
  const second = useSecondStore();
  const one = place.run === null ? null : comparedId(slug, place.run);
  const other = comparedId(slug, place.beside);
  const { found, refused } = useComparison(slug, one, other);
  const fits = one !== null && refused === '';
  useOpened(first, slug, one ?? '', fits);
  useOpened(second, slug, other, fits);
  useNews(first);
  useNews(second);
  const runs = useMemo<Runs>(() => {
    const ids = { first: one ?? '', second: other };
    const stores = { first, second };
    return { ids, stores, index: (side) => indexOf(stores[side], ids[side]) };
  }, [first, second, one, other]);
  const left = runs.index('first');
  const right = runs.index('second');
  const alone = () => go({ run: place.run, beside: null });
  const waits = { place, onLesson: alone };
  if (refused) return <Waiting refused={refused} {...waits} />;
  if (found === null || lesson?.slug !== slug || left === null || right === null)
    return <Waiting refused="" {...waits} />;
  const odd = unlike(lesson, left, right);
  if (odd) return <Waiting refused={odd} {...waits} />;
  return <Both {...{ lesson, runs, found, place, go, visit }} />;
}

/** Why lanes of two runs have no common axis; empty: they have one. */
export function unlike(lesson: Lesson, one: RunIndex, other: RunIndex): string {
  if (!allViews().has(lesson.view))
    return t('This page has no view called {view}: reload it.', { view: lesson.view });
  const [left, right] = [one, other].map((index) => index.axis?.plural ?? t('guest time'));
  if (left === right) {
    const [a, b] = [one, other].map((index) => lessonOfRun(lesson, index.workload).operation);
    if (a?.name === b?.name) return '';
    return t(
      'An operation of the first is a {name}, of the second a {name2}. Choose runs of one workload.',
      { name: a?.name, name2: b?.name },
    );
  }
  return t(
    'Their lanes have no common axis: that of the first counts {left}, that of the second {right}. Choose runs of one workload.',
    { left, right },
  );
}

function Both(props: {
  readonly lesson: Lesson;
  readonly runs: Runs;
  readonly found: Comparison;
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
}) {
  const { lesson, runs, found, place } = props;
  const scene = sceneOf(lesson, place.step);
  const arms = commonArms(lesson, found, place.arms ?? scene.arms);
  const key = arms.join(' ');
  const given = useMemo(() => {
    const shown = key.split(' ');
    const index = () => {
      const [one, other] = [runs.index('first'), runs.index('second')];
      return one && other && pairIndex(one, other, shown);
    };
    // A step's moment is looked for in the first run: its finders know the lesson's arms.
    const currentIndex = () => runs.index('first');
    const news = [runs.stores.first.events, runs.stores.second.events];
    return { index, whole: index, currentIndex, news };
  }, [runs, key]);
  return (
    <LanesProvider given={given}>
      <CompareViewPage {...props} scene={scene} arms={arms} />
    </LanesProvider>
  );
}

/** Arms of both runs that are wanted, in the lesson's order; all that both have where none of these is in both. */
export function commonArms(
  lesson: Pick<Lesson, 'arms'>,
  found: Pick<Comparison, 'sides'>,
  wanted: readonly string[],
): readonly string[] {
  const both = lesson.arms
    .map((arm) => arm.name)
    .filter((name) => found.sides.every((side) => side.arms.includes(name)));
  const chosen = both.filter((name) => wanted.includes(name));
  return chosen.length > 0 ? chosen : both;
}

function Waiting({
  refused,
  place,
  onLesson,
}: {
  readonly refused: string;
  readonly place: Place;
  readonly onLesson: () => void;
}) {
  const store = useStore();
  useFollowAway(place);
  useEffect(() => {
    document.documentElement.dataset['idle'] = refused ? 'true' : 'false';
  }, [refused]);
  return (
    <main className="front" data-testid="beside-waiting">
      <p className="brand">
        <Mark /> Kernel Duet
      </p>
      {refused ? (
        <p className="lead" role="alert">
          {refused}
        </p>
      ) : (
        <p className="lead" role="status">
          {t('Two recordings are being read, and what they differ in…')}
        </p>
      )}
      <NoticeLines connection={store.connection.get()} errors={[]} onDismiss={() => {}} />
      <button type="button" className="button" onClick={onLesson}>
        {t('the lesson')}
      </button>
    </main>
  );
}
