// SPDX-License-Identifier: GPL-2.0-or-later
/** The types of all that server and page exchange, from the schema. Pure. */

import { compile } from 'json-schema-to-typescript';
import { banner, type Contract, type Node, valuesOf } from './contract-schema.ts';

/** Dropped for types: titles would become types of their own, and bounds of arrays long tuples. */
const dropped = new Set(['title', 'minItems', 'maxItems', 'default', 'pattern']);

/** A remark of the generator on what needs none. */
const reference =
  /(?<=\n)(?:\/\*\*\n \* This interface was referenced by.*\n \* via the `definition` .*\n \*\/\n| \*\n \* This interface was referenced by.*\n \* via the `definition` .*\n)/g;

/** As json-schema-to-typescript wants it. JSON schema has no bytes: a `binary` string is a Uint8Array here. */
function prepare(node: Node): Record<string, unknown> {
  if (node.opaque) return { tsType: 'Record<string, unknown>' };
  if (node.prefixItems !== undefined) {
    const items = node.prefixItems.map(prepare);
    return { type: 'array', items, minItems: items.length, maxItems: items.length };
  }
  if (node.propertyNames?.enum !== undefined) {
    const value = prepare(node.additionalProperties as Node);
    const properties = Object.fromEntries(node.propertyNames.enum.map((key) => [key, value]));
    return { type: 'object', properties, additionalProperties: false };
  }
  const values = valuesOf(node);
  if (values !== null) return { type: 'object', additionalProperties: prepare(values) };
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (dropped.has(key)) continue;
    if (key === 'properties') {
      const fields = Object.entries(value as Record<string, Node>);
      result[key] = Object.fromEntries(fields.map(([name, field]) => [name, prepare(field)]));
    } else if (key === 'anyOf') result[key] = (value as Node[]).map(prepare);
    else if (key === 'items') result[key] = prepare(value as Node);
    else result[key] = value;
  }
  if (node.format === 'binary') result['tsType'] = 'Uint8Array';
  return result;
}

/** The text of contract.gen.ts. */
export async function typesText(contract: Contract): Promise<string> {
  const names = Object.entries(contract.$defs);
  const $defs = Object.fromEntries(names.map(([name, node]) => [name, prepare(node)]));
  const union = (title: string, members: readonly string[]) => ({
    title,
    oneOf: members.map((name) => ({ $ref: `#/$defs/${name}` })),
  });
  const root = {
    title: 'Contract',
    type: 'object',
    additionalProperties: false,
    required: ['server', 'client'],
    properties: {
      server: union('ServerWire', Object.values(contract.server)),
      client: union('ClientWire', Object.values(contract.client)),
    },
    $defs,
  };
  const body = await compile(root as never, 'Contract', {
    bannerComment: '',
    style: { singleQuote: true, printWidth: 100 },
    unreachableDefinitions: true,
  });
  const tags = contract.plugins.map((tag) => `'${tag}'`).join(' | ') || 'never';
  const plugins = `export type PluginWire = Extract<ServerWire, { type: ${tags} }>;\n`;
  return `${banner}export const protocolVersion = ${contract.protocol};\n\n${body.replaceAll(reference, '')}\n${plugins}`;
}
