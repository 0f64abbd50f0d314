import type { JsonValue } from '../../../src/base/json.ts';
import type { Random } from './mutate.ts';

/** The part of JSON Schema that request schemas use. */
export type JsonSchema = Readonly<{
  type?: unknown;
  enum?: readonly JsonValue[];
  const?: JsonValue;
  default?: JsonValue;
  examples?: readonly JsonValue[];
  anyOf?: readonly JsonSchema[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}>;

const TEXTS = [
  ...[
    'a',
    'devnet',
    'rpc',
    'ok',
    '',
    'a@b.example',
    'https://a.example/x',
    '192.0.2.0/24',
    '*',
    'e\u0301\u202e',
  ],
  ...['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', '1700000000000', '5', '-1', '1e3', 'null', 'getBlock'],
];
const oneOf = <Item>(items: readonly Item[], random: Random): Item => items[random() % items.length] as Item;

function textOf({ minLength = 0, maxLength = 64 }: JsonSchema, random: Random): string {
  const text = oneOf(TEXTS, random);
  if (random() % 8 === 0) return 'x'.repeat(Math.min(2_000, maxLength + (random() % 2)));
  return text.padEnd(Math.min(minLength, 2_000), 'x');
}

function numberOf({ type, minimum = 0, maximum = 2 ** 31 }: JsonSchema, random: Random): number {
  const within = minimum + (random() % Math.max(1, Math.min(maximum - minimum + 1, 2 ** 32)));
  const number = oneOf([minimum, maximum, minimum - 1, maximum + 1, within, within, within], random);
  return type === 'number' && random() % 2 === 0 ? number + 0.5 : number;
}

function objectOf({ properties = {}, required = [] }: JsonSchema, random: Random): JsonValue {
  const named = Object.entries(properties).filter(([name]) =>
    required.includes(name) ? random() % 16 > 0 : random() % 2 === 0,
  );
  return Object.fromEntries(named.map(([name, schema]) => [name, jsonFor(schema, random)]));
}

/** A value that mostly fits a schema, often at its limits. */
export function jsonFor(schema: JsonSchema, random: Random): JsonValue {
  const known = [...(schema.enum ?? []), ...(schema.examples ?? [])];
  if (schema.const !== undefined) return schema.const;
  if (known.length > 0 && random() % 8 > 0) return oneOf(known, random);
  if (schema.anyOf !== undefined) return jsonFor(oneOf(schema.anyOf, random), random);
  if (schema.type === 'object') return objectOf(schema, random);
  if (schema.type === 'boolean') return random() % 2 === 0;
  if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema, random);
  if (schema.type === 'null') return null;
  if (schema.type !== 'array') return textOf(schema, random);
  const { items = {}, minItems = 0, maxItems = 4 } = schema;
  const length = Math.min(20, oneOf([minItems, minItems + 1, Math.min(maxItems, 4)], random));
  return Array.from({ length }, () => jsonFor(items, random));
}
