// SPDX-License-Identifier: GPL-2.0-or-later
/** Joining a class: a dialog opened by a class link, and a field on the front page. */

import { type FormEvent, useEffect, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import { siteOf } from '../../base/site.ts';
import { frontPage, type Place, searchOf } from '../../navigation/place.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { off } from '../../ui/parts.tsx';
import { ledTo } from './class-state.ts';
import { requestedOf } from './driver.ts';
import { useRoom, useVisit } from './hooks.tsx';
import { codeIn, membershipOf } from './membership.ts';

const nameChars = 32;

/** Remove the class code from the address, so that it is not shared with links to a moment. */
function cleanAddress(): void {
  const query = new URLSearchParams(location.search);
  if (!query.has('class')) return;
  query.delete('class');
  history.replaceState(history.state, '', location.pathname + searchOf(query) + location.hash);
}

/** Joins the class named in the address, and opens the leader's lesson on a follower's page. */
export function ClassGate({ place }: { readonly place: Place }) {
  const { room, open, following, aside } = useRoom();
  const visit = useVisit();
  const [code, setCode] = useState(() => {
    const asked = siteOf() === null ? codeIn(location.search) : null;
    return asked !== null && membershipOf(asked) === null ? asked : null;
  });
  useEffect(() => {
    if (!open) return;
    cleanAddress();
    setCode(null);
  }, [open]);
  useEffect(() => {
    const facts = room?.facts;
    if (!following || room === null || !facts) return;
    const driver = ledTo(room, aside).place;
    const to = driver?.lesson ?? facts.lesson;
    if (to === place.lesson) return;
    visit(driver ? requestedOf(driver, place) : { ...frontPage, lesson: to });
  });
  const close = () => {
    cleanAddress();
    setCode(null);
  };
  return (
    <Dialog title={t('Join a class')} open={code !== null} onClose={close} testId="class-join">
      <JoinForm code={code ?? ''} named />
    </Dialog>
  );
}

/** @param named whether the code is known, so that the form asks only for a nickname */
export function JoinForm({ code = '', named = false }: { code?: string; named?: boolean }) {
  const { classroom, entering, refused } = useRoom();
  const [typed, setTyped] = useState(code);
  const [name, setName] = useState('');
  const [missing, setMissing] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const known = membershipOf(typed) !== null;
    if (!typed.trim()) return setMissing(t('Type the three words of the class.'));
    if (!known && !name.trim()) return setMissing(t('Type a nickname.'));
    setMissing('');
    return classroom?.join(typed.trim(), name.trim());
  };
  const words = missing || refused;
  return (
    <form className="class-form" onSubmit={submit}>
      {named && <p className="class-code">{code}</p>}
      {!named && (
        <label>
          {t('Code of the class, three words')}
          <input
            value={typed}
            maxLength={64}
            data-first
            autoCapitalize="none"
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
            data-testid="class-code-field"
          />
        </label>
      )}
      <label>
        {t('Nickname')}
        <input
          value={name}
          maxLength={nameChars}
          data-first={named || undefined}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
          data-testid="class-name-field"
        />
      </label>
      <p className="small quiet">
        {t(
          'The instructor sees your nickname, whether you follow, and your answers. The class sees your nickname while you have control. The class also sees your nickname next to your runs if the instructor shows the runs to everybody. You may delete your nickname from the class at any time.',
        )}
      </p>
      {words && (
        <p role="alert" data-testid="class-refused">
          {words}
        </p>
      )}
      <button
        type="submit"
        className="button"
        data-strong=""
        data-testid="class-join-button"
        {...off(entering !== null && t('The class is being joined.'))}
      >
        {t('join')}
      </button>
    </form>
  );
}

/** On the front page: a field for a class code, or a link back to the class. */
export function JoinOnFront() {
  const { classroom, room, open } = useRoom();
  const [asked, setAsked] = useState(false);
  if (classroom === null || siteOf() !== null) return null;
  if (open && room !== null)
    return (
      <p className="class-front" data-testid="class-front">
        {t('You are in the class “{title}”.', { title: room.facts?.title })}{' '}
        <BackToClass lesson={room.place?.lesson ?? room.facts?.lesson ?? ''} />
      </p>
    );
  return (
    <div className="class-front" data-testid="class-front">
      <button
        type="button"
        className="link"
        onClick={() => setAsked(true)}
        data-testid="class-front-join"
      >
        {t('join a class by its code')}
      </button>
      <Dialog
        title={t('Join a class')}
        open={asked}
        onClose={() => setAsked(false)}
        testId="class-join-front"
      >
        <JoinForm />
      </Dialog>
    </div>
  );
}

function BackToClass({ lesson }: { readonly lesson: string }) {
  const { classroom, room } = useRoom();
  const visit = useVisit();
  return (
    <button
      type="button"
      className="button"
      onClick={() => {
        if (room?.facts?.driving) visit({ ...frontPage, lesson });
        else classroom?.followAgain();
      }}
    >
      {t('back to the class')}
    </button>
  );
}
