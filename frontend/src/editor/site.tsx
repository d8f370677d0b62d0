// SPDX-License-Identifier: GPL-2.0-or-later
/** In the place of entry.tsx in an exported site, which has no server: nothing can be changed there. */

import type { ReactNode } from 'react';

export function ChangeProvider({ children }: { readonly children: ReactNode }) {
  return children;
}

export function useChanging(): boolean {
  return false;
}

export function ChangePane() {
  return null;
}

export function ChangeNews() {
  return null;
}

export function ChangeButton() {
  return null;
}
