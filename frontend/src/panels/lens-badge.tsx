// SPDX-License-Identifier: GPL-2.0-or-later
/** The lenses of the lanes, a badge each, and each lane's own state one click away. */

import { rich, t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import type { LensMessage } from '../protocol/messages.ts';
import { CrossIcon } from '../ui/parts.tsx';
import { sentenceCase } from '../ui/words.ts';

export interface LaneLens {
  readonly title: string;
  readonly lens: LensMessage;
}

const routes: Readonly<Record<LensMessage['route'], string>> = {
  memory: t("the guest's memory is read directly"),
  qmp: t('the guest’s memory is read through QMP text, which is slow'),
  unknown: '',
};

interface Props {
  readonly lanes: readonly LaneLens[];
  readonly onOpen: () => void;
}

const titles: Readonly<Record<LensMessage['lens'], string>> = {
  xray: 'x-ray',
  microscope: 'microscope',
};

/** Nothing where no lane is looked into. */
export function LensBadges({ lanes, onOpen }: Props) {
  return (['xray', 'microscope'] as const).map((name) => (
    <LensBadge
      key={name}
      name={name}
      lanes={lanes.filter(({ lens }) => lens.lens === name && lens.state !== 'off')}
      onOpen={onOpen}
    />
  ));
}

function LensBadge({ name, lanes: there, onOpen }: Props & { readonly name: LensMessage['lens'] }) {
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
      data-testid={name === 'xray' ? 'lens' : name}
      data-volatile
    >
      {bad && <CrossIcon />} {titles[name]}{' '}
      {/* One piece: between pieces of a badge there is a gap, and a comma follows its number. */}
      <span>
        <b>{formatCount(sum((lens) => lens.samples))}</b>
        {torn + failed > 0
          ? t(', {torn} torn, {failed} failed', {
              torn: formatCount(torn),
              failed: formatCount(failed),
            })
          : ''}
        {there.some(({ lens }) => lens.state === 'attaching') && t(', attaching')}
      </span>
    </button>
  );
}

/** What each lane's x-ray did, and why it stopped. */
export function LensList({ lanes }: { readonly lanes: readonly LaneLens[] }) {
  return (
    <div className="loss-list">
      {lanes.map(({ title, lens }) => (
        <section key={`${title} ${lens.lens}`}>
          <h3>
            {title}, {titles[lens.lens]}
          </h3>
          {lens.message && (
            <p>
              {lens.state === 'failed' && <CrossIcon />} {sentenceCase(lens.message)} {lens.remedy}
            </p>
          )}
          {lens.lens === 'xray' ? (
            <p>
              {rich(
                '{samples, plural, one {# sample} other {# samples}}; {torn} torn reads (two reads differed), {failed} failed, {dropped} that were due and did not come{more}.',
                {
                  samples: lens.samples,
                  torn: formatCount(lens.torn),
                  failed: formatCount(lens.failed),
                  dropped: formatCount(lens.dropped),
                  more: routes[lens.route] && `; ${routes[lens.route]}`,
                },
              )}
            </p>
          ) : (
            <p>
              {t(
                '{samples, plural, one {# access} other {# accesses}} kept one by one; {dropped} found no room. Counts include them.',
                { samples: lens.samples, dropped: formatCount(lens.dropped) },
              )}
            </p>
          )}
        </section>
      ))}
      <p className="small quiet">
        {t(
          'The x-ray reads the running kernel’s memory from the host and never stops it. A sample tells what was there at its time, give or take its error. The microscope sees loads and stores of chosen functions as QEMU executes them: it counts each, and keeps a bounded number of them one by one.',
        )}
      </p>
    </div>
  );
}
