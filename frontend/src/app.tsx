// SPDX-License-Identifier: GPL-2.0-or-later
/** The page. It has one store and one socket, and shows the front page or a lesson. */

import { lazy, Suspense, useEffect, useLayoutEffect, useState } from 'react';
import { t } from './base/lang/t.ts';
import { later } from './base/later.tsx';
import { siteOf } from './base/site.ts';
import { withWords } from './lang/load.ts';
import { usePlace } from './navigation/use-navigation.ts';
import { passKeys } from './page/embed.tsx';
import { LessonLoader, TypedLesson } from './page/lesson-loader.tsx';
import { AroundPages, pluginPage, Slot } from './plugins.tsx';
import { connect } from './store/connect.ts';
import { StoreProvider, useHello } from './store/hooks.tsx';
import { Store } from './store/store.ts';
import { loadAllViews } from './views/registry.ts';

const Front = later(() => import('./home/home.tsx').then((m) => m.Front));
const CompareView = later(
  () => import('./compare/compare-view.tsx').then((m) => m.CompareView),
  () => <p role="status">{t('Loading the comparison…')}</p>,
);
const Gallery = lazy(async () => {
  await loadAllViews();
  const { Gallery } = await withWords('gallery', () => import('./gallery/gallery.tsx'));
  return { default: Gallery };
});

/** The page for `?gallery`, which shows developers all views with recorded data. */
function Exhibits() {
  const slugs = useHello()
    ?.lessons.filter((l) => l.picture)
    .map((l) => l.slug);
  if (slugs === undefined) return <p role="status">{t('Looking for the lessons…')}</p>;
  return (
    <Suspense fallback={<p role="status">{t('Loading the gallery…')}</p>}>
      <Gallery slugs={slugs} />
    </Suspense>
  );
}

export function App() {
  const [store] = useState(() => new Store());
  const [place, go, visit, visitPlace] = usePlace();
  const site = siteOf();
  const lesson = place.lesson ?? site?.lesson ?? null;
  const asked = site === null ? pluginPage(location.search, place, go) : null;
  // This effect must run before the effects of child components, which request their lesson immediately.
  useLayoutEffect(() => {
    const socket = connect(store);
    return () => socket.close();
  }, [store]);
  const framed = place.embed && parent !== window;
  useEffect(() => (framed ? passKeys() : undefined), [framed]);
  return (
    <StoreProvider store={store}>
      <AroundPages visit={visitPlace} place={place}>
        <Slot part="Everywhere" given={{ place }} />
        {site === null && new URLSearchParams(location.search).has('gallery') ? (
          <Exhibits />
        ) : asked !== null ? (
          asked
        ) : lesson === null ? (
          <Front onOpen={(lesson) => go({ lesson })} />
        ) : (
          <TypedLesson typed={lesson} go={go}>
            {(slug) =>
              place.beside !== null ? (
                <CompareView
                  key={`${slug} beside`}
                  slug={slug}
                  place={{ ...place, beside: place.beside }}
                  {...{ go, visit }}
                />
              ) : (
                <LessonLoader key={slug} slug={slug} {...{ place, go, visit }} />
              )
            }
          </TypedLesson>
        )}
      </AroundPages>
    </StoreProvider>
  );
}
