// SPDX-License-Identifier: GPL-2.0-or-later
/** The parts of JSON schema that pydantic writes for the contract. */

export interface Node {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly prefixItems?: readonly Node[];
  readonly minItems?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly propertyNames?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly default?: unknown;
  /** The reader of the message does not look into it. */
  readonly opaque?: boolean;
}

export interface Contract {
  readonly protocol: number;
  /** Tag of a message -> its definition. */
  readonly server: Readonly<Record<string, string>>;
  readonly client: Readonly<Record<string, string>>;
  /** Tags of the messages that only plug-ins send. */
  readonly plugins: readonly string[];
  readonly lessons: readonly string[];
  readonly http: readonly string[];
  readonly $defs: Readonly<Record<string, Node>>;
}

export const banner =
  '// SPDX-License-Identifier: GPL-2.0-or-later\n' +
  '/** Generated from contract.schema.json by `make contract`. Do not edit. */\n\n';

export function nameOf(ref: string): string {
  return ref.replace('#/$defs/', '');
}

/** What a map holds, whatever its keys must look like; null: it is no map. */
export function valuesOf(node: Node): Node | null {
  if (typeof node.additionalProperties === 'object') return node.additionalProperties;
  const [values] = Object.values(node.patternProperties ?? {});
  return values ?? null;
}
