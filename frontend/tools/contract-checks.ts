// SPDX-License-Identifier: GPL-2.0-or-later
/** The checks of what comes from the server, from the schema; check.ts has what they are made of. Pure. */

import { banner, type Contract, type Node, nameOf, valuesOf } from './contract-schema.ts';

const text = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);

function reader(name: string): string {
  return `read${name}`;
}

class Checks {
  readonly #contract: Contract;
  /** Expression of a composite reader -> the constant that holds it. */
  readonly #shared = new Map<string, string>();
  readonly #used = new Set<string>();
  readonly #written = new Set<string>();
  readonly lines: string[] = [];

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  /** Helpers of check.ts that were needed. */
  get imports(): readonly string[] {
    return [...this.#used].toSorted();
  }

  use(helper: string): string {
    this.#used.add(helper);
    return helper;
  }

  /** Writes the check of one definition, after those that it needs. */
  define(name: string): void {
    if (this.#written.has(name)) return;
    this.#written.add(name);
    const node = this.#contract.$defs[name];
    if (node?.properties === undefined) throw new Error(`${name} is no object`);
    const fields = Object.entries(node.properties).map(([key, field]) => {
      const read = this.#read(field, `${name}_${key}`);
      const place = `o['${key}'], '${key}'`;
      return 'default' in field && field.const === undefined
        ? `  ${key}: ${this.use('or')}(${place}, ${read}, ${text(field.default)}),`
        : `  ${key}: ${read}(${place}),`;
    });
    const head = `export const ${reader(name)}: Read<wire.${name}> = ${this.use('shape')}((o) => ({`;
    this.lines.push([head, ...fields, '}));', ''].join('\n'));
  }

  /** A reader by its name: a helper, another definition, or a constant. */
  #read(node: Node, owner: string): string {
    const made = this.#expression(node, owner);
    if (!made.includes('(')) return made;
    const known = this.#shared.get(made);
    if (known !== undefined) return known;
    this.#shared.set(made, owner);
    this.lines.push(`const ${owner} = ${made};\n`);
    return owner;
  }

  #expression(node: Node, owner: string): string {
    if (node.$ref !== undefined) {
      this.define(nameOf(node.$ref));
      return reader(nameOf(node.$ref));
    }
    if (node.opaque) return `${this.use('map')}(${this.use('anything')})`;
    if (node.const !== undefined) return `${this.use('literal')}(${text(node.const)})`;
    if (node.enum !== undefined) return `${this.use('oneOf')}(${node.enum.map(text).join(', ')})`;
    if (node.anyOf !== undefined) return this.#union(node.anyOf, owner);
    switch (node.type) {
      case 'string':
        return this.use(node.format === 'binary' ? 'bytes' : 'string');
      case 'boolean':
        return this.use('boolean');
      case 'null':
        return this.use('nothing');
      case 'number':
      case 'integer':
        return this.#bounded(node, this.use(node.type));
      case 'array':
        return this.#array(node, owner);
      case 'object':
        return this.#map(node, owner);
      case undefined:
        return this.use('anything');
    }
    throw new Error(`${owner}: no check for ${JSON.stringify(node)}`);
  }

  #union(members: readonly Node[], owner: string): string {
    const others = members.filter((m) => m.type !== 'null');
    const reads = others.map((m, i) => this.#read(m, `${owner}_${i || 'one'}`));
    const numbers = new Set(['number', 'integer']);
    const merged = reads.every((r) => numbers.has(r))
      ? reads.includes('number')
        ? this.use('number')
        : 'integer'
      : reads.reduce((a, b) => `${this.use('either')}(${a}, ${b})`);
    return others.length < members.length ? `${this.use('maybe')}(${merged})` : merged;
  }

  #bounded(node: Node, read: string): string {
    if (node.minimum !== undefined) return `${this.use('atLeast')}(${read}, ${node.minimum})`;
    if (node.exclusiveMinimum !== undefined)
      return `${this.use('above')}(${read}, ${node.exclusiveMinimum})`;
    return read;
  }

  #array(node: Node, owner: string): string {
    if (node.prefixItems !== undefined) {
      if (node.prefixItems.length !== 2) throw new Error(`${owner}: only pairs have a check`);
      const [one, other] = node.prefixItems.map((item, i) => this.#read(item, `${owner}_${i}`));
      return `${this.use('pair')}(${one}, ${other})`;
    }
    const item = this.#read(node.items ?? {}, `${owner}_item`);
    return `${this.use('list')}(${[item, ...(node.minItems ? [node.minItems] : [])].join(', ')})`;
  }

  #map(node: Node, owner: string): string {
    const values = valuesOf(node);
    if (values === null) throw new Error(`${owner}: an object without a name`);
    const value = this.#read(values, `${owner}_value`);
    const names = node.propertyNames?.enum;
    const key = names && this.#read({ enum: names }, `${owner}_key`);
    return key ? `${this.use('partial')}(${key}, ${value})` : `${this.use('map')}(${value})`;
  }
}

/** The text of contract.checks.gen.ts. */
export function checksText(contract: Contract): string {
  const checks = new Checks(contract);
  const server = Object.entries(contract.server);
  for (const name of [...server.map(([, name]) => name), ...contract.lessons, ...contract.http])
    checks.define(name);
  const union = [
    `export const readServerMessage: Read<wire.ServerWire> = ${checks.use('tagged')}<wire.ServerWire>({`,
    ...server.map(([tag, name]) => `  ${tag}: ${reader(name)},`),
    '});\n',
  ].join('\n');
  const imports = checks.imports.map((name) => `  ${name},`).join('\n');
  return (
    `${banner}import {\n${imports}\n  type Read,\n} from './check.ts';\n` +
    `import type * as wire from './contract.gen.ts';\n\n${checks.lines.join('\n')}\n${union}`
  );
}
