// SPDX-License-Identifier: GPL-2.0-or-later
/** Entry points of the editor. Every page loads this part of the editor, but not the other parts. */

import { lazy, Suspense, useEffect, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import { withWords } from '../../lang/load.ts';
import { hasPatches } from '../../store/changes.ts';
import { useStore } from '../../store/hooks.tsx';
import { off } from '../../ui/parts.tsx';
import { type Door, readPatch, useDoor, usualArm } from './door.tsx';

const Pane = lazy(() =>
  withWords('plugins/editor/pane', () => import('./pane/pane.tsx')).then((m) => ({
    default: m.ChangePane,
  })),
);

/** Whether the pane is open, so that the page makes room for it. */
export function useChanging(): boolean {
  return useDoor()?.opened != null;
}

/** The pane, if it is open. It is opened by buttons, by a link that contains a change, and by a dropped file. */
export function ChangePane() {
  const door = useDoor();
  return (
    <>
      {door?.opened != null && (
        <Suspense fallback={<p className="change-pane quiet">{t('Loading the editor…')}</p>}>
          <Pane door={door} opened={door.opened} />
        </Suspense>
      )}
      <Arrivals />
    </>
  );
}

/**
 * For a page without the pane: progress of a change that was requested earlier. Renders nothing once its run has
 * started.
 */
export function ChangeNews() {
  const door = useDoor();
  if (door?.asked == null || door.progress === null || door.progress.over === 'runs') return null;
  return (
    <span className="small" role="status" data-testid="change-news" data-volatile>
      {t('your change: {words}', { words: door.progress.words })}
    </span>
  );
}

const labels = { state: t('change the patch'), knobs: t('change'), patch: t('change it') };

interface ButtonProps {
  readonly at: keyof typeof labels;
  /** The arm whose patch is changed. The default is the arm that usualArm() returns. */
  readonly arm?: string;
}

export function ChangeButton({ arm, at }: ButtonProps) {
  const [label, look] = [labels[at], at === 'state' ? 'badge' : 'button'];
  const door = useDoor();
  if (door === null || !hasPatches(door.lesson)) return null;
  const { progress, asked } = door;
  const going = progress !== null && progress.over === 'not yet' && asked !== null;
  return (
    <button
      type="button"
      className={arm === undefined ? look : 'link small'}
      title={
        going
          ? t('your change: {words}', { words: progress.words })
          : t('change the code of an arm and run it')
      }
      aria-label={look === 'badge' ? label : t('{label}: change the patch', { label })}
      aria-expanded={door.opened !== null}
      onClick={() => door.open(arm ?? usualArm(door.lesson, door.scene))}
      data-testid={arm === undefined ? 'change' : 'change-patch'}
      {...off(door.opened === null && door.shut)}
    >
      {label}
      {going && '…'}
    </button>
  );
}

const marker = '#change=';

/** Receives changes from the address or from a dropped file, but never runs these changes. */
function Arrivals() {
  const door = useDoor();
  const [over, setOver] = useState(false);
  const store = useStore();
  useLink(door);
  useEffect(() => {
    if (door === null) return undefined;
    const files = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const drag = (event: DragEvent) => {
      if (!files(event)) return;
      event.preventDefault();
      setOver(event.type === 'dragover');
    };
    const drop = (event: DragEvent) => {
      if (!files(event)) return;
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file)
        void readPatch(file).then((text) => {
          if (text !== null) {
            const arm = door.opened?.arm ?? usualArm(door.lesson, door.scene);
            door.open(arm, { text, from: 'file' });
          } else
            store.complain({
              type: 'error',
              code: 'drop',
              sentence: file.name
                ? t('{name} is not a patch.', { name: file.name })
                : t('The dropped file is not a patch.'),
              remedy: t('Drop a file that git format-patch, git diff or b4 wrote.'),
              detail: '',
            });
        });
    };
    const kinds = [
      ['dragover', drag],
      ['dragleave', drag],
      ['drop', drop],
    ] as const;
    for (const [kind, listen] of kinds) document.addEventListener(kind, listen);
    return () => {
      for (const [kind, listen] of kinds) document.removeEventListener(kind, listen);
    };
  }, [door, store]);
  return over ? (
    <p className="drop-here" role="status">
      {t('Drop the patch to open it beside the lanes.')}
    </p>
  ) : null;
}

/** A change in the address opens the pane, once per address. */
function useLink(door: Door | null): void {
  const [seen, setSeen] = useState('');
  useEffect(() => {
    const look = () => {
      const { hash } = location;
      if (door === null || hash === seen || !hash.startsWith(marker)) return;
      setSeen(hash);
      void import('./pane/link.ts').then(async ({ unpackChange }) => {
        const change = await unpackChange(hash);
        const arm = door.lesson.arms.find((one) => one.name === change?.arm)?.name;
        const text = change?.diff ?? '';
        door.open(arm ?? usualArm(door.lesson, door.scene), { text, from: 'link' });
      });
    };
    look();
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, [door, seen]);
}
