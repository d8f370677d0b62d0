// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The part of ICU messages that the page's texts use: {name}, {name, plural, =0 {…} one {…} other {# …}}, {name,
 * select, yes {…} other {…}}, <tag>…</tag>, and quotes. A complete ICU library would be a tenth of the code of an
 * exported site. A test compares this code with such a library on all texts.
 */

type Node =
  | string
  | { readonly kind: 'value' | 'number'; readonly name: string }
  | Choice
  | { readonly kind: 'tag'; readonly name: string; readonly inner: readonly Node[] };
interface Choice {
  readonly kind: 'plural' | 'select';
  readonly name: string;
  readonly options: Options;
}
type Options = ReadonlyMap<string, readonly Node[]>;

/** Thrown if a text is not a valid message. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

class Parser {
  #at = 0;
  readonly #text: string;
  readonly #tags: boolean;

  constructor(text: string, tags: boolean) {
    this.#text = text;
    this.#tags = tags;
  }

  /**
   * Read until the end of the text, or up to the brace or tag that closes a part.
   *
   * @param plural the argument whose number replaces `#`; null outside of plurals
   * @param tag name of the open tag; null outside of tags
   */
  nodes(depth: number, plural: string | null, tag: string | null): Node[] {
    const found: Node[] = [];
    let words = '';
    const add = (node: Node) => {
      if (words) found.push(words);
      words = '';
      found.push(node);
    };
    while (this.#at < this.#text.length) {
      const sign = this.#text[this.#at] ?? '';
      if (sign === '}' && depth > 0) break;
      if (sign === '}') throw this.#wrong('a brace that opens');
      if (sign === '{') add(this.#argument(depth));
      else if (sign === '#' && plural !== null) {
        this.#at += 1;
        add({ kind: 'number', name: plural });
      } else if (sign === "'") words += this.#quoted(plural !== null);
      else if (this.#tags && sign === '<' && this.#text.startsWith('</', this.#at)) {
        if (tag === null) throw this.#wrong('a tag that opens');
        break;
      } else if (this.#tags && sign === '<' && this.#match(/<([a-z][\w-]*)>/iy)) {
        add(this.#tagged(depth, plural));
      } else {
        this.#at += 1;
        words += sign;
      }
    }
    if (words) found.push(words);
    return found;
  }

  #tagged(depth: number, plural: string | null): Node {
    const name = this.#need(/<([a-z][\w-]*)>/iy, 'a tag');
    const inner = this.nodes(depth, plural, name);
    if (this.#need(/<\/([a-z][\w-]*)>/iy, `</${name}>`) !== name) throw this.#wrong(`</${name}>`);
    return { kind: 'tag', name, inner };
  }

  #argument(depth: number): Node {
    const name = this.#need(/\{\s*(\w+)\s*/y, 'the name of an argument');
    if (this.#take(/(\})/y) !== null) return { kind: 'value', name };
    const kind = this.#need(/,\s*(plural|select)\s*,\s*/y, 'plural or select');
    const options = new Map<string, Node[]>();
    while (this.#take(/(\})/y) === null) {
      const option = this.#need(/(=?\w+)\s*\{/y, 'an option');
      options.set(option, this.nodes(depth + 1, kind === 'plural' ? name : null, null));
      this.#need(/(\})\s*/y, 'a closing brace');
    }
    if (!options.has('other')) throw this.#wrong('the option other');
    return { kind: kind as 'plural' | 'select', name, options };
  }

  /**
   * Two quotes in a row mean one quote. Braces, `<`, `>` and `#` between quotes are plain text. Other quotes are
   * apostrophes.
   */
  #quoted(plural: boolean): string {
    if (this.#take(/('')/y) !== null) return "'";
    const quoted = this.#take(plural ? /'([{}<>#](?:''|[^'])*)'?/y : /'([{}<>](?:''|[^'])*)'?/y);
    if (quoted !== null) return quoted.replaceAll("''", "'");
    this.#at += 1;
    return "'";
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  #take(pattern: RegExp): string | null {
    const found = this.#match(pattern);
    if (found === null) return null;
    this.#at += found[0].length;
    return found[1] ?? '';
  }

  #need(pattern: RegExp, what: string): string {
    const found = this.#take(pattern);
    if (found === null) throw this.#wrong(what);
    return found;
  }

  #wrong(what: string): MessageError {
    return new MessageError(`position ${this.#at} of “${this.#text}” should have ${what}`);
  }
}

type Inner = (parts: readonly unknown[]) => unknown;

/** A text with arguments in one language. */
export class Message {
  readonly #nodes: readonly Node[];
  readonly #locale: string;

  /**
   * @param tags whether `<b>…</b>` calls the function `b`
   * @throws MessageError if the text is not a valid message
   */
  constructor(text: string, locale: string, tags: boolean) {
    this.#nodes = new Parser(text, tags).nodes(0, null, null);
    this.#locale = locale;
  }

  /** The text with its arguments. Values that are neither strings nor numbers remain separate parts. */
  parts(values: Readonly<Record<string, unknown>>): unknown[] {
    const found: unknown[] = [];
    this.#fill(this.#nodes, values, found);
    return found;
  }

  #fill(nodes: readonly Node[], values: Readonly<Record<string, unknown>>, found: unknown[]): void {
    for (const node of nodes) {
      if (typeof node === 'string') {
        add(found, node);
        continue;
      }
      if (!(node.name in values)) throw new MessageError(`there is no value of ${node.name}`);
      const value = values[node.name];
      if (node.kind === 'value') add(found, typeof value === 'number' ? String(value) : value);
      else if (node.kind === 'number')
        add(found, new Intl.NumberFormat(this.#locale).format(Number(value)));
      else if (node.kind === 'tag') {
        const inner: unknown[] = [];
        this.#fill(node.inner, values, inner);
        add(found, typeof value === 'function' ? (value as Inner)(inner) : value);
      } else this.#fill(this.#option(node as Choice, value), values, found);
    }
  }

  #option({ kind, options }: Choice, value: unknown): readonly Node[] {
    const exact = options.get(kind === 'plural' ? `=${value}` : String(value));
    if (exact !== undefined) return exact;
    const rule = kind === 'plural' ? new Intl.PluralRules(this.#locale).select(Number(value)) : '';
    return options.get(rule) ?? options.get('other') ?? [];
  }
}

/** Add a part. Neighbouring strings are joined, and values that are missing are left out. */
function add(parts: unknown[], part: unknown): void {
  const before = parts.at(-1);
  if (part === null || part === undefined || part === '') return;
  if (typeof part === 'string' && typeof before === 'string')
    parts[parts.length - 1] = before + part;
  else parts.push(part);
}
