// SPDX-License-Identifier: GPL-2.0-or-later
/** What <kernel-duet> and the bare page in its frame say to each other. Nothing of it acts on a guest. */

export const tag = 'kernel-duet';

export type FrameMessage =
  | { readonly kind: typeof tag; readonly act: 'ready' | 'play' | 'pause' }
  | { readonly kind: typeof tag; readonly act: 'seek'; readonly at_ms: number };

const acts: readonly unknown[] = ['ready', 'play', 'pause'];

export function isFrameMessage(data: unknown): data is FrameMessage {
  if (typeof data !== 'object' || data === null) return false;
  const { kind, act, at_ms } = data as Record<string, unknown>;
  return kind === tag && (acts.includes(act) || (act === 'seek' && Number.isFinite(at_ms)));
}
