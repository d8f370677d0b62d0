// SPDX-License-Identifier: GPL-2.0-or-later
/** All that a lesson page shows of its class: the line over it, the panel at its side, the link. */

import { type ReactNode, useEffect, useState } from 'react';
import type { Place } from '../navigation/place.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { Dialog } from '../ui/dialog.tsx';
import { askedIn, revealedIn, waiting } from './asked.ts';
import { ClassBar } from './class-bar.tsx';
import { ClassPanel } from './class-panel.tsx';
import { useRoom } from './hooks.tsx';
import { Invite } from './invite.tsx';
import type { MapControl } from './questions.tsx';
import { openedAt } from './tries.ts';
import type { TryActions } from './try-panel.tsx';
import type { InClass } from './use-in-class.ts';
import { useShow } from './use-shown.ts';

interface Page {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly inClass: InClass;
  readonly guess: { readonly guess: number | null };
  readonly pointing: MapControl;
  readonly place: Place;
  readonly actions: TryActions;
}

export function ClassArea({ page, notes }: { readonly page: Page; readonly notes: ReactNode }) {
  const now = useRoom();
  const { classroom, room, open } = now;
  const { lesson, scene, arms, inClass, guess } = page;
  const [panel, setPanel] = useState(false);
  const [invites, setInvites] = useState(false);
  const all = room === null ? [] : askedIn(room, lesson, scene);
  const member = room?.part === 'member';
  const asks = room && member ? waiting(room, all, scene.id, guess.guess !== null) : [];
  const revealed = room && member ? revealedIn(room, all) : [];
  // What is new for a member opens the panel.
  const tries = member && openedAt(room, lesson.slug, scene.id) !== null;
  const news = JSON.stringify([asks, revealed].map((list) => list.map((one) => one.key)));
  const some = asks.length + revealed.length > 0;
  useEffect(() => {
    if (some && news !== '') setPanel(true);
  }, [some, news]);
  useEffect(() => {
    if (tries) setPanel(true);
  }, [tries]);
  const show = useShow(page.place);
  if (classroom === null || room?.facts == null) return null;
  const map: MapControl = {
    ...page.pointing,
    // The panel may cover what is to be pointed at.
    point: (number) => {
      setPanel(false);
      page.pointing.point(number);
    },
  };
  return (
    <>
      <ClassBar
        {...{ now, room, lesson, arms, inClass }}
        panel={panel && open}
        waiting={asks.length}
        onPanel={() => setPanel(!panel)}
        onInvite={() => setInvites(true)}
      />
      {panel && open && (
        <ClassPanel
          {...{ classroom, room, lesson, scene, all, map, show }}
          actions={page.actions}
          notes={notes}
          open={asks}
          onClose={() => setPanel(false)}
        />
      )}
      <Dialog
        title={room.facts.title}
        open={invites && open}
        onClose={() => setInvites(false)}
        side="wide"
        testId="class-invite-dialog"
      >
        <Invite facts={room.facts} />
      </Dialog>
    </>
  );
}
