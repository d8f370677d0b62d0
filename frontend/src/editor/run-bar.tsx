// SPDX-License-Identifier: GPL-2.0-or-later
/** Runs the change beside the lanes of the step: the button, and how far its kernel is, with the seconds since the click. */

import { useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { off } from '../ui/parts.tsx';
import type { Asked, Door } from './door.tsx';
import { armsBeside, laneWord, type Stage, stages } from './words.ts';

interface Props {
  readonly door: Door;
  readonly base: string;
  /** Why this text cannot run; empty: it can. */
  readonly why: string;
  readonly onRun: () => void;
}

export function RunBar({ door, base, why, onRun }: Props) {
  const { asked, progress } = door;
  const mine = asked?.base === base ? asked : null;
  const going = asked !== null && progress?.over === 'not yet';
  const lanes = armsBeside(door.scene, base, '').length;
  const building = going && !asked.begun && t('Your change is being built.');
  return (
    <div className="change-run">
      <button
        type="button"
        className="button"
        data-strong
        onClick={onRun}
        data-testid="run-change"
        {...off(door.blocked || why || building)}
      >
        {t('run as {lane}', { lane: laneWord(lanes) })}
      </button>
      {going && !asked.begun && (
        <button type="button" className="button" onClick={door.giveUp} data-testid="give-up-change">
          {t('give up')}
        </button>
      )}
      {mine !== null && progress !== null ? (
        <Going asked={mine} door={door} />
      ) : (
        <p className="small quiet" data-testid="change-why">
          {door.blocked || why || t('Its kernel is built first; the lanes stay.')}
        </p>
      )}
    </div>
  );
}

/** What the row of stages says. */
const stageNames: Readonly<Record<Stage, string>> = {
  queue: t('queue'),
  compile: t('compile'),
  link: t('link'),
  boot: t('boot'),
  run: t('run'),
};

function Going({ asked, door }: { readonly asked: Asked; readonly door: Door }) {
  const { over, stage, words } = door.progress!;
  const seconds = useSeconds(asked.at, over !== 'not yet');
  const at = stages.indexOf(stage);
  return (
    <div className="change-going" data-over={over}>
      <ol aria-hidden="true">
        {stages.map((name, i) => (
          <li
            key={name}
            data-state={i < at || over === 'runs' ? 'done' : i === at ? 'now' : 'to come'}
          >
            {stageNames[name]}
          </li>
        ))}
      </ol>
      <p className="small">
        <span role="status" data-testid="change-phase" data-volatile>
          {words}
        </span>{' '}
        <span className="quiet number" data-testid="change-seconds" data-volatile>
          {over === 'not yet' ? `${seconds} s` : t('after {seconds} s', { seconds })}
        </span>
      </p>
    </div>
  );
}

/** Whole seconds since a moment of the page's time; they stand once it is over. */
function useSeconds(since: number, over: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    setNow(performance.now());
    if (over) return undefined;
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, [over]);
  return Math.max(0, Math.round((now - since) / 1000));
}
