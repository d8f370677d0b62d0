// SPDX-License-Identifier: GPL-2.0-or-later
/** The page: one store, one socket, and the front page or a lesson. */

import { useLayoutEffect, useState } from 'react';
import { Front } from './lesson/front.tsx';
import { LessonPage } from './lesson/page.tsx';
import { usePlace } from './lesson/use-place.ts';
import { connect } from './store/connect.ts';
import { StoreProvider } from './store/hooks.tsx';
import { Store } from './store/store.ts';

export function App() {
  const [store] = useState(() => new Store());
  const [place, go] = usePlace();
  // Before the effects of what is below: they ask for their lesson at once.
  useLayoutEffect(() => {
    const socket = connect(store);
    return () => socket.close();
  }, [store]);
  return (
    <StoreProvider store={store}>
      {place.lesson === null ? (
        <Front onOpen={(lesson) => go({ lesson })} />
      ) : (
        <LessonPage key={place.lesson} slug={place.lesson} place={place} go={go} />
      )}
    </StoreProvider>
  );
}
