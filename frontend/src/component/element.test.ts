// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { afterEach, describe, expect, test, vi } from 'vitest';
import { folderOf, frameAddress, KernelDuet, ratioOf } from './element.ts';
import { isFrameMessage } from './frame-messages.ts';

describe('element', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later

  /** happy-dom has no layout, so the test determines which elements are visible. */
  class Sight {
    static newest: Sight;
    readonly #look: (entries: { isIntersecting: boolean }[]) => void;
    constructor(look: (entries: { isIntersecting: boolean }[]) => void) {
      this.#look = look;
      Sight.newest = this;
    }
    observe(): void {}
    disconnect(): void {}
    is(isIntersecting: boolean): void {
      this.#look([{ isIntersecting }]);
    }
  }

  vi.stubGlobal('IntersectionObserver', Sight);
  customElements.define('kernel-duet', KernelDuet);
  // happy-dom logs an error for each frame whose page it does not load.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  afterEach(() => document.body.replaceChildren());

  function placed(autoplay: boolean) {
    const element = document.createElement('kernel-duet');
    element.setAttribute('src', 'https://duet.example.org/');
    element.toggleAttribute('autoplay', autoplay);
    document.body.append(element);
    const acts: string[] = [];
    const frame = { postMessage: ({ act }: { act: string }) => acts.push(act) };
    const box = element.shadowRoot!.querySelector('iframe')!;
    Object.defineProperty(box, 'contentWindow', { value: frame });
    const ready = () => {
      const data = { kind: 'kernel-duet', act: 'ready' };
      dispatchEvent(Object.assign(new Event('message'), { source: frame, data }));
    };
    const say = (data: object, source: unknown = frame) =>
      dispatchEvent(Object.assign(new Event('message'), { source, data }));
    return { acts, ready, sight: Sight.newest, say, element, box };
  }

  test('it plays when its page is ready and in sight, whichever comes first', () => {
    const seenFirst = placed(true);
    seenFirst.sight.is(true);
    seenFirst.ready();
    expect(seenFirst.acts.at(-1)).toBe('play');

    const readyFirst = placed(true);
    readyFirst.ready();
    expect(readyFirst.acts).toEqual(['pause']);
    readyFirst.sight.is(true);
    expect(readyFirst.acts).toEqual(['pause', 'play']);
  });

  test('out of sight it stops, and without autoplay it stays so', () => {
    const { acts, ready, sight } = placed(false);
    sight.is(true);
    ready();
    sight.is(false);
    sight.is(true);
    expect(acts).toEqual(['pause']);
  });

  test('a key of its own frame is pressed in the page around, while the frame has the keys', () => {
    const { say, element, box } = placed(false);
    const pressed: string[] = [];
    for (const act of ['keydown', 'keyup'] as const)
      document.addEventListener(act, ({ type, key, keyCode, code, target }) => {
        if (target === element) pressed.push(`${type} ${key} ${code} ${keyCode}`);
      });
    const key = (act: string, name: string) => ({ kind: 'kernel-duet', act, key: name });
    say(key('keydown', 'PageDown'));
    expect(pressed).toEqual([]);

    let focused: Element | null = box;
    Object.defineProperty(element.shadowRoot, 'activeElement', { get: () => focused });
    box.blur = () => {
      focused = null;
    };
    say(key('keydown', 'PageDown'));
    say(key('keyup', 'PageDown'));
    say(key('keydown', ' '));
    expect(pressed).toEqual([
      'keydown PageDown PageDown 34',
      'keyup PageDown PageDown 34',
      'keydown   Space 32',
    ]);
    say(key('keydown', 'ArrowRight'), {});
    say(key('keydown', 'f'));
    expect(pressed).toHaveLength(3);
    say(key('keydown', 'Escape'));
    expect(focused).toBeNull();
    say(key('keydown', 'PageDown'));
    expect(pressed).toHaveLength(3);
  });
});

describe('component', () => {
  const of = (attributes: Record<string, string>) => (name: string) => attributes[name] ?? null;

  test('the folder is that of the script, unless another is named', () => {
    const page = 'https://slides.example.org/talk/';
    expect(folderOf(null, 'https://x.example.org/duet/kernel-duet.js', page)?.href).toBe(
      'https://x.example.org/duet/',
    );
    expect(folderOf('../other/', 'https://x.example.org/duet/k.js', page)?.href).toBe(
      'https://slides.example.org/other/',
    );
    expect(folderOf(null, '', 'file:///talk/index.html')?.href).toBe('file:///talk/');
    for (const wrong of ['javascript:alert(1)', 'data:text/html,x', 'https://[']) {
      expect(folderOf(wrong, '', page)).toBeNull();
    }
  });

  test('the address has what the attributes name, and nothing else', () => {
    const folder = new URL('https://x.example.org/duet/?lesson=other#top');
    const address = frameAddress(
      folder,
      of({ lesson: '02-grace-periods', step: 'ticks', at: '12.5', onload: 'x', arms: 'a,b' }),
    );
    expect(address).toBe(
      'https://x.example.org/duet/?embed=1&lesson=02-grace-periods&step=ticks&at=12.5&arms=a%2Cb',
    );
    expect(frameAddress(new URL('file:///duet/'), of({}))).toBe('file:///duet/index.html?embed=1');
  });

  test('a ratio is two numbers', () => {
    expect([ratioOf('4/3'), ratioOf('16:9'), ratioOf(null), ratioOf('1;x')]).toEqual([
      '4 / 3',
      '16 / 9',
      '16 / 10',
      '16 / 10',
    ]);
  });

  test('messages of others are none of ours', () => {
    expect(isFrameMessage({ kind: 'kernel-duet', act: 'seek', at_ms: 3 })).toBe(true);
    const others = [
      null,
      'play',
      { act: 'play' },
      { kind: 'kernel-duet', act: 'stop' },
      { kind: 'kernel-duet', act: 'seek' },
      { kind: 'kernel-duet', act: 'seek', at_ms: Number.NaN },
      { kind: 'kernel-duet', act: 'keydown' },
      { kind: 'kernel-duet', act: 'keydown', key: 'q' },
      { kind: 'kernel-duet', act: 'keyup', key: 'toString' },
    ];
    for (const other of others) expect(isFrameMessage(other)).toBe(false);
  });

  test('a language is passed on to the frame', () => {
    const given: Record<string, string> = { lesson: '02-x', lang: 'de' };
    const address = frameAddress(new URL('https://a.example/duet/'), (name) => given[name] ?? null);
    expect(new URL(address).searchParams.get('lang')).toBe('de');
  });
});
