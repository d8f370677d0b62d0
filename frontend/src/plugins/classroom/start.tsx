// SPDX-License-Identifier: GPL-2.0-or-later
/** The button that starts a class, and the dialog with its link and code. */

import { type FormEvent, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import { later } from '../../base/later.tsx';
import { siteOf } from '../../base/site.ts';
import { check } from '../../protocol/check.ts';
import { readClassLine } from '../../protocol/contract.checks.gen.ts';
import type { ClassLine } from '../../protocol/contract.gen.ts';
import { useDenied } from '../../store/hooks.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { copiedMs, off, useCopy } from '../../ui/parts.tsx';
import { dateTag } from '../../ui/words.ts';
import type { ClassFacts } from './class-state.ts';
import { useRoom } from './hooks.tsx';
import { reportHref } from './report/address.ts';

const TextQr = later(() => import('../../share/qr.tsx').then((m) => m.TextQr));

// Shows how students join a class: link, QR code and three words, large enough for a projector.

const loopback = /^(localhost|127\.|\[::1\])/;

/** The complete address of a class: its link, resolved against the page's own address. */
export function classLink({ link }: Pick<ClassFacts, 'link'>, here: string): string {
  const url = new URL(here);
  [url.search, url.hash] = [link, ''];
  return url.href;
}

export function Invite({ facts }: { readonly facts: ClassFacts }) {
  const link = classLink(facts, location.href);
  const [copied, copy] = useCopy(copiedMs);
  return (
    <div className="class-invite" data-testid="class-invite">
      <div className="class-qr" data-testid="class-qr">
        <TextQr text={link} label={t('QR code of the link')} />
      </div>
      <div>
        <p className="quiet">{t('Open the link, or type the code on the first page:')}</p>
        <p className="class-code" data-testid="class-code">
          {facts.code}
        </p>
        <p className="class-link">
          <a href={link} target="_blank" rel="noreferrer" data-testid="class-link">
            {link}
          </a>
        </p>
        <button type="button" className="button" onClick={() => copy(link)}>
          {copied === 'copied' ? t('link copied') : t('copy the link')}
        </button>
        {loopback.test(location.host) && (
          <p className="small quiet">
            {t(
              'This address works only on this computer. For a class, start the server with --host, and open the page at an address that students can reach.',
            )}
          </p>
        )}
      </div>
    </div>
  );
}

// Reports of the classes that this browser has started, in the dialog that starts the next class.

/** Maximum number of reports in the list. The newest report comes first. */
const most = 12;

async function former(): Promise<readonly ClassLine[]> {
  const answer = await fetch('api/classes', { signal: AbortSignal.timeout(20_000) });
  const tree: unknown = answer.ok ? await answer.json() : [];
  const lines = Array.isArray(tree) ? tree.map((one) => check(readClassLine, one)) : [];
  return lines.flatMap((one) => (one.ok ? [one.value] : [])).slice(0, most);
}

function FormerClasses() {
  const [lines, setLines] = useState<readonly ClassLine[] | null>(null);
  const load = () => former().then(setLines, () => setLines([]));
  return (
    <details
      className="class-poll"
      onToggle={(event) => {
        if (event.currentTarget.open && lines === null) void load();
      }}
    >
      <summary data-testid="class-former">{t('reports of your former classes')}</summary>
      {lines?.length === 0 && (
        <p className="quiet small">{t('This browser has started no class.')}</p>
      )}
      <ul className="class-former small">
        {lines?.map(({ class_id, title, started_at, members }) => (
          <li key={class_id}>
            <a href={reportHref(class_id)} target="_blank" rel="noreferrer">
              {title}
            </a>{' '}
            <span className="quiet">
              {new Date(started_at).toLocaleDateString(dateTag(), { dateStyle: 'medium' })},{' '}
              {members}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface Props {
  readonly lesson: { readonly slug: string; readonly title: string };
}

/** Renders nothing if this visitor may not teach. During a class, the start button is hidden. */
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
          'Students join with a link or a code, and their pages follow your page. Each student may explore alone and return. The students’ predictions arrive as answers. Nobody sees the others’ answers until you reveal them.',
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
