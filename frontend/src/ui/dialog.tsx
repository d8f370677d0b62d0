// SPDX-License-Identifier: GPL-2.0-or-later
/** A modal dialog, whose code is loaded when a dialog first opens, or after the first picture. */

import { useState } from 'react';
import { later } from '../base/later.tsx';
import type { Props } from './modal.tsx';

const Modal = later<Props>(() => import('./modal.tsx').then((m) => m.Modal));

export function Dialog(props: Props) {
  const [asked, setAsked] = useState(props.open);
  if (props.open && !asked) setAsked(true);
  return asked && <Modal {...props} />;
}
