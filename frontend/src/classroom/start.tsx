// SPDX-License-Identifier: GPL-2.0-or-later
/** The button that starts a class, and the dialog with its link and code. */

import { type FormEvent, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { useDenied } from '../store/hooks.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { off } from '../ui/parts.tsx';
import { FormerClasses } from './former.tsx';
import { useRoom } from './hooks.tsx';
import { Invite } from './invite.tsx';

interface Props {
  readonly lesson: { readonly slug: string; readonly title: string };
}

/** Absent where this visitor may not teach, or where a class goes on. */
export function ClassButton({ lesson }: Props) {
  const { classroom, room } = useRoom();
  const denied = useDenied('teach');
  const [open, setOpen] = useState(false);
  if (classroom === null || denied || siteOf() !== null) return null;
  return (
    <>
      {room === null && (
        <button
          type="button"
          className="button"
          onClick={() => setOpen(true)}
          data-testid="class-start"
        >
          {t('start a class')}
        </button>
      )}
      <StartDialog lesson={lesson} open={open} onClose={() => setOpen(false)} />
    </>
  );
}

function StartDialog({
  lesson,
  open,
  onClose,
}: Props & { readonly open: boolean; readonly onClose: () => void }) {
  const { room, open: begun } = useRoom();
  const facts = begun && room?.part === 'instructor' ? room.facts : null;
  return (
    <Dialog
      title={facts ? facts.title : t('Start a class')}
      open={open}
      onClose={onClose}
      side={facts ? 'wide' : 'centre'}
      testId="class-dialog"
    >
      {facts ? <Invite facts={facts} /> : <StartForm lesson={lesson} />}
    </Dialog>
  );
}

function StartForm({ lesson }: Props) {
  const { classroom, entering, refused } = useRoom();
  const [title, setTitle] = useState(lesson.title);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    classroom?.start(lesson.slug, title);
  };
  return (
    <form className="class-form" onSubmit={submit}>
      <p>
        {t(
          'Students join with a link or a code, and their pages go where yours goes. Each may explore alone and come back. Predictions that they make come in as answers; nobody sees how others answered before you reveal it.',
        )}
      </p>
      <label>
        {t('Title of the class')}
        <input value={title} maxLength={120} onChange={(event) => setTitle(event.target.value)} />
      </label>
      {refused && <p role="alert">{refused}</p>}
      <button
        type="submit"
        className="button"
        data-strong=""
        data-testid="class-begin"
        {...off(entering !== null && t('The class is being started.'))}
      >
        {t('start')}
      </button>
      <FormerClasses />
    </form>
  );
}
