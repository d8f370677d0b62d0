// SPDX-License-Identifier: GPL-2.0-or-later
/** What pages show of classes. An exported site has site.tsx in its place. */

export { ShownBar } from './class-bar.tsx';
export { ClassArea, ClassOverlay } from './class-panel.tsx';
export { ClassGate, JoinOnFront } from './join.tsx';
export { PointMap } from './pointing.tsx';
export { ClassButton } from './start.tsx';
