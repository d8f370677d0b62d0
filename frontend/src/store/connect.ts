// SPDX-License-Identifier: GPL-2.0-or-later
/** Connects a store to a server's socket, or to the files of an exported site. */

import { inLanguage } from '../base/lang/overlay.ts';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { directDecoder } from '../protocol/decoder.ts';
import { socketUrl, takeSocket } from '../protocol/early.ts';
import type { ServerMessage } from '../protocol/messages.ts';
import { fetchedSegments } from '../protocol/segments.ts';
import { SiteSocket } from '../protocol/site-socket.ts';
import { openSocket, type Socket } from '../protocol/socket.ts';
import type { Store } from './store.ts';

/** Translate the texts of lessons in a message. Messages without lessons are returned unchanged. */
function worded(message: ServerMessage): ServerMessage {
  if (message.type === 'lesson') return { ...message, lesson: inLanguage(message.lesson) };
  if (message.type === 'hello') return { ...message, lessons: message.lessons.map(inLanguage) };
  return message;
}

/** Connect a store to a server, or to the files of an exported site. Call `Socket.close` to disconnect. */
export function connect(store: Store, url: string = socketUrl(location)): Socket {
  const site = siteOf();
  const socket = openSocket({
    url,
    ...(site
      ? {
          makeSocket: () => new SiteSocket(site) as unknown as WebSocket,
          makeDecoder: directDecoder,
        }
      : { segments: fetchedSegments(location.href), makeSocket: takeSocket }),
    onMessage: (message, tookMs) => store.dispatch(worded(message), tookMs),
    onConnection: (connection) => store.connection.set(connection),
    onComplaint: (sentence) =>
      store.complain({
        type: 'error',
        code: 'protocol',
        sentence,
        remedy: t(
          'Reload the page; if the error persists, page and server have different versions.',
        ),
        detail: '',
      }),
  });
  store.attach((message) => socket.send(message));
  // Benchmarks read decoding times and event delays here.
  Object.assign(globalThis, { duetTiming: () => store.timing });
  return socket;
}
