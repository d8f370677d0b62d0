// SPDX-License-Identifier: GPL-2.0-or-later
/** A button that is off says why: to the mouse, and to screen readers. */
import { t } from '../base/lang/t.ts';

interface Off {
  readonly disabled?: true;
  readonly title?: string;
  readonly 'aria-description'?: string;
}

/** Attributes of a button; put them last, so that the reason replaces its usual title. Empty: it is on. */
export function off(why: string | null | undefined | false): Off {
  return why ? { disabled: true, title: why, 'aria-description': why } : {};
}

/** Of buttons that move through a run. */
export const nothingYet = t('There are no events yet.');
