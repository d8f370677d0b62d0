// SPDX-License-Identifier: GPL-2.0-or-later
/** Keyboard shortcuts of the lesson page. The key listener and the help sheet use the same list. */

import { useEffect, useRef } from 'react';
import { t } from '../base/lang/t.ts';
import type { Playback } from '../playback/hooks.tsx';

// A keyboard shortcut.

interface KeyOf<Act extends string> {
  readonly act: Act;
  /** Values of `KeyboardEvent.key`. The prefix `Shift+` means that Shift must be pressed. */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly what: string;
}

// Keyboard actions that zoom and move the window, like the mouse wheel, dragging and brushing.

export type WindowAct =
  | 'zoom-in'
  | 'zoom-out'
  | 'window-back'
  | 'window-on'
  | 'window-from'
  | 'window-to'
  | 'whole-run';

export const windowKeys = [
  { act: 'zoom-in', keys: ['z'], shown: 'z', what: t('zoom in at the moment') },
  { act: 'zoom-out', keys: ['Z'], shown: t('Shift z'), what: t('zoom out') },
  {
    act: 'window-back',
    keys: [','],
    shown: ',',
    what: t('move the window back by half its width'),
  },
  {
    act: 'window-on',
    keys: ['.'],
    shown: '.',
    what: t('move the window forward by half its width'),
  },
  { act: 'window-from', keys: ['i'], shown: 'i', what: t('the window begins at the moment') },
  { act: 'window-to', keys: ['u'], shown: 'u', what: t('the window ends at the moment') },
  { act: 'whole-run', keys: ['0'], shown: '0', what: t('the whole run') },
] as const satisfies readonly KeyOf<WindowAct>[];

type Windows = Pick<Playback, 'now' | 'view' | 'zoom'> & {
  readonly state: Pick<Playback['state'], 'watermark'>;
};

/** Functions for the keyboard actions that move or zoom the window. */
export function windowActs({ now, view, zoom, state }: Windows): Record<WindowAct, () => void> {
  const move = (share: number) => {
    const { start, span } = now();
    view(start + share * span, span);
  };
  return {
    'zoom-in': () => zoom(1 / 2),
    'zoom-out': () => zoom(2),
    'window-back': () => move(-1 / 2),
    'window-on': () => move(1 / 2),
    'window-from': () => {
      const { start, span, moment } = now();
      if (moment < start + span) view(moment, start + span - moment);
    },
    'window-to': () => {
      const { start, moment } = now();
      if (moment > start) view(start, moment - start);
    },
    'whole-run': () => {
      if (state.watermark > 0) view(0, state.watermark);
    },
  };
}

export type Act =
  | 'toggle'
  | 'beat-back'
  | 'beat-on'
  | 'event-back'
  | 'event-on'
  | 'backwards'
  | 'step-back'
  | 'step-on'
  | 'slower'
  | 'faster'
  | 'long-wait'
  | 'divergence'
  | 'loss'
  | 'align-time'
  | 'align-operation'
  | 'align-marker'
  | 'scope'
  | 'words'
  | 'questions'
  | 'caveats'
  | 'knobs'
  | 'share'
  | 'present'
  | 'theme'
  | 'deselect'
  | 'follow'
  | 'help'
  | WindowAct;

export type Key = KeyOf<Act>;

/** The shortcut of pages that show one run: a lesson and its slides. */
export const shareKey: Key = {
  act: 'share',
  keys: ['a'],
  shown: 'a',
  what: t('the link to this moment, with its QR code'),
};

const byOperation: ReadonlySet<Act> = new Set(['align-operation', 'align-marker']);

/**
 * All keyboard shortcuts. If `aligned` is false, the shortcuts for alignment by an operation are omitted. `more`
 * contains the shortcuts of one page, and of plug-ins.
 */
export function keyList(
  operation: string,
  beat = operation,
  aligned = true,
  more: readonly Key[] = [],
): readonly Key[] {
  const all: readonly Key[] = [
    { act: 'toggle', keys: [' '], shown: 'Space', what: t('play or pause') },
    { act: 'backwards', keys: ['b'], shown: 'b', what: t('play backwards, or pause') },
    { act: 'beat-back', keys: ['ArrowLeft'], shown: '←', what: t('one {beat} back', { beat }) },
    { act: 'beat-on', keys: ['ArrowRight'], shown: '→', what: t('one {beat} forward', { beat }) },
    {
      act: 'event-back',
      keys: ['Shift+ArrowLeft'],
      shown: t('Shift ←'),
      what: t('one event back'),
    },
    {
      act: 'event-on',
      keys: ['Shift+ArrowRight'],
      shown: t('Shift →'),
      what: t('one event forward'),
    },
    { act: 'step-back', keys: ['PageUp'], shown: t('Page Up'), what: t('the previous step') },
    { act: 'step-on', keys: ['PageDown'], shown: t('Page Down'), what: t('the next step') },
    { act: 'slower', keys: ['-'], shown: '−', what: t('slower') },
    { act: 'faster', keys: ['+', '='], shown: '+', what: t('faster') },
    ...windowKeys,
    { act: 'long-wait', keys: ['n'], shown: 'n', what: t('next long wait') },
    { act: 'divergence', keys: ['d'], shown: 'd', what: t('first divergence of the lanes') },
    { act: 'loss', keys: ['x'], shown: 'x', what: t('next loss of events') },
    { act: 'align-time', keys: ['t'], shown: 't', what: t('align by time') },
    {
      act: 'align-operation',
      keys: ['o'],
      shown: 'o',
      what: t('align by {operation}', { operation }),
    },
    { act: 'align-marker', keys: ['m'], shown: 'm', what: t('align by marker') },
    { act: 'scope', keys: ['r'], shown: 'r', what: 're-arm: the newest episode, again and again' },
    { act: 'words', keys: ['w'], shown: 'w', what: t('the picture in words') },
    { act: 'questions', keys: ['q'], shown: 'q', what: t('the questions') },
    { act: 'caveats', keys: ['c'], shown: 'c', what: t('what you should not conclude') },
    { act: 'knobs', keys: ['k'], shown: 'k', what: t('show or hide the knobs') },
    { act: 'present', keys: ['p'], shown: 'p', what: t('present mode') },
    { act: 'theme', keys: ['l'], shown: 'l', what: t('light or dark') },
    {
      act: 'deselect',
      keys: ['Escape'],
      shown: 'Esc',
      what: t(
        'clear the selection and leave the picture, so that arrow keys step through the run again',
      ),
    },
    ...more,
    { act: 'help', keys: ['?'], shown: '?', what: t('this sheet') },
  ];
  return aligned ? all : all.filter(({ act }) => !byOperation.has(act));
}

/** The action for a key press; null if the key has no action, or if an input field or widget handles the key. */
export function actOf(event: KeyboardEvent, keys: readonly Key[]): Act | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest('input, select, textarea, [role="dialog"], [contenteditable]')) return null;
  const arrow = event.key.startsWith('Arrow');
  if (arrow && target?.closest('[role="tablist"], nav.steps')) return null;
  if (event.key === ' ' && target?.closest('button, a, summary')) return null;
  const name = event.shiftKey && arrow ? `Shift+${event.key}` : event.key;
  return keys.find((key) => key.keys.includes(name))?.act ?? null;
}

/** Listen to keys on the complete page while the component is mounted. */
export function useKeys(keys: readonly Key[], run: (act: Act) => void): void {
  const latest = useRef({ keys, run });
  latest.current = { keys, run };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const act = actOf(event, latest.current.keys);
      if (act === null) return;
      event.preventDefault();
      latest.current.run(act);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
