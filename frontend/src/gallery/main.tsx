// SPDX-License-Identifier: GPL-2.0-or-later
/** For developers: every view on one run, light and dark. `npm run dev`, then /gallery.html?hogs=9&at=60&span=30,
 * or ?run=recorded with a server behind it. */

import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import { createRoot } from 'react-dom/client';
import { testLesson } from '../../test/fixtures/lesson.ts';
import { syntheticRun } from '../../test/fixtures/synthetic.ts';
import { connect } from '../store/connect.ts';
import { Store } from '../store/store.ts';
import { Gallery } from './gallery.tsx';

const query = new URLSearchParams(location.search);
const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);
const arms = query.get('arms')?.split(',');

const store = new Store();
store.lesson.set(testLesson);
const recorded = query.get('run');
if (recorded !== null) {
  connect(store);
  store.command({ type: 'open', lesson: testLesson.slug, run: recorded });
} else {
  const run = syntheticRun({
    hogs: number('hogs', 9),
    ms: number('ms', 400),
    readers: query.has('readers'),
    ...(arms === undefined ? {} : { arms }),
  });
  for (const message of run) store.dispatch(message);
}

createRoot(document.getElementById('root')!).render(
  <Gallery
    store={store}
    at={number('at', 80)}
    span={number('span', 30)}
    share={number('share', 0.7)}
    height={number('height', 700)}
    themes={query.get('theme')?.split(',') ?? ['light', 'dark']}
    focus={query.get('focus')?.split(',') ?? []}
    play={query.has('play')}
    words={recorded === null ? 'synthetic run, no kernel made it' : 'recorded run'}
  />,
);
