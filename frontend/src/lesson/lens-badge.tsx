// SPDX-License-Identifier: GPL-2.0-or-later
/** The x-ray of the lanes in one badge, and each lane's own state one click away. */

import { formatCount, plural } from '../base/units.ts';
import type { LensMessage } from '../protocol/messages.ts';
import { CrossIcon } from '../ui/icons.tsx';

export interface LaneLens {
  readonly title: string;
  readonly lens: LensMessage;
}

const routes: Readonly<Record<LensMessage['route'], string>> = {
  memory: "the guest's memory is read directly",
  qmp: 'the guest’s memory is read through QMP text, which is slow',
  unknown: '',
};

interface Props {
  readonly lanes: readonly LaneLens[];
  readonly onOpen: () => void;
}

/** Nothing where no lane is looked into. */
export function LensBadge({ lanes, onOpen }: Props) {
  const there = lanes.filter(({ lens }) => lens.state !== 'off');
  if (there.length === 0) return null;
  const bad = there.some(({ lens }) => lens.state === 'failed');
  const sum = (of: (lens: LensMessage) => number) => there.reduce((n, l) => n + of(l.lens), 0);
  const torn = sum((lens) => lens.torn);
  const failed = sum((lens) => lens.failed);
  return (
    <button
      type="button"
      className="badge"
      data-tone={bad ? 'hazard' : undefined}
      onClick={onOpen}
      data-testid="lens"
      data-volatile
    >
      {bad && <CrossIcon />} x-ray <b>{formatCount(sum((lens) => lens.samples))}</b>
      {torn + failed > 0 ? `, ${formatCount(torn)} torn, ${formatCount(failed)} failed` : ''}
      {there.some(({ lens }) => lens.state === 'attaching') && ', attaching'}
    </button>
  );
}

/** What each lane's x-ray did, and why it stopped. */
export function LensList({ lanes }: { readonly lanes: readonly LaneLens[] }) {
  return (
    <div className="loss-list">
      {lanes.map(({ title, lens }) => (
        <section key={title}>
          <h3>{title}</h3>
          {lens.message && (
            <p>
              {lens.state === 'failed' && <CrossIcon />} {lens.message} {lens.remedy}
            </p>
          )}
          <p>
            {plural(lens.samples, 'sample')}; {formatCount(lens.torn)} torn reads (two reads
            differed), {formatCount(lens.failed)} failed, {formatCount(lens.dropped)} that were due
            and did not come{routes[lens.route] && `; ${routes[lens.route]}`}.
          </p>
        </section>
      ))}
      <p className="small quiet">
        The x-ray reads the running kernel’s memory from the host and never stops it. A sample tells
        what was there at its time, give or take its error.
      </p>
    </div>
  );
}
