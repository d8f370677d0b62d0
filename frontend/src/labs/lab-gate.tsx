// SPDX-License-Identifier: GPL-2.0-or-later
/** `?lab=SLUG` without a lesson: goes to the lesson of the lab's first task. */

import { useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Go } from '../navigation/use-navigation.ts';
import { HomeLink } from '../ui/parts.tsx';
import { labApi } from './lab-api.ts';

export function LabGate({ lab, go }: { readonly lab: string; readonly go: Go }) {
  const [failed, setFailed] = useState('');
  useEffect(() => {
    labApi.view(lab).then(
      ({ tasks: [first] }) => {
        if (first) go({ lesson: first.lesson, step: first.step }, 'replace');
      },
      (error: Error) => setFailed(error.message),
    );
  }, [lab, go]);
  return (
    <main className="front" data-testid="lab-gate">
      <header>
        <HomeLink />
      </header>
      <p className="lead" role={failed ? 'alert' : 'status'}>
        {failed || t('The lab is on its way…')}
      </p>
    </main>
  );
}
