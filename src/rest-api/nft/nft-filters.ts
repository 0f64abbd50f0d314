import { z } from 'zod';
import type { JsonValue } from '../../base/json.ts';

// The `royalty` and `attributes` filters of nft/search, sent as JSON in the query string. Source: rest-api.md §2.14.

export const nftFilterLimits = {
  /** Maximum length of a filter in UTF-16 code units. */
  lengthMax: 4096,
  traitsMax: 20,
};

const operators: Readonly<Record<string, (value: number, operand: number) => boolean>> = {
  gt: (value, operand) => value > operand,
  gte: (value, operand) => value >= operand,
  lt: (value, operand) => value < operand,
  lte: (value, operand) => value <= operand,
};

export type NumberTest = (value: number) => boolean;

type ValueTest = (value: JsonValue) => boolean;

type AttributeTests = ReadonlyMap<string, ValueTest>;

const COMPARISON = 'must use gt, gte, lt or lte, each with a number';

class FilterFault extends Error {}

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i;
const NUMBER_TEXT_MAX = 64;

function numberOf(value: unknown): number | null {
  const isNumeric = typeof value === 'string' && value.length <= NUMBER_TEXT_MAX && NUMBER.test(value);
  const number = isNumeric || typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a comparison such as `{ "gte": 5, "lt": "10" }`, in which all conditions must hold. */
function comparisonOf(filter: object): NumberTest {
  const tests = Object.entries(filter).map(([name, expected]): NumberTest => {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    const operand = numberOf(expected);
    if (operator === undefined || operand === null) {
      throw new FilterFault(COMPARISON);
    }
    return (value) => operator(value, operand);
  });
  if (tests.length === 0) throw new FilterFault(COMPARISON);
  return (value) => tests.every((test) => test(value));
}

const isPrimitive = (value: unknown): value is string | number | bigint | boolean =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

function valueTestOf(filter: unknown): ValueTest {
  if (isPrimitive(filter)) return (value) => isPrimitive(value) && String(value) === String(filter);
  if (!isObject(filter)) {
    throw new FilterFault('must give each trait a value or a comparison such as {"gte":"100"}');
  }
  const test = comparisonOf(filter);
  return (value) => {
    const number = numberOf(value);
    return number !== null && test(number);
  };
}

function royaltyTestOf(filter: unknown): NumberTest {
  if (isObject(filter)) return comparisonOf(filter);
  const exact = numberOf(filter);
  if (exact === null) throw new FilterFault('must be a number, or JSON such as {"gte":5,"lte":10}');
  return (value) => value === exact;
}

function attributeTestsOf(filter: unknown): AttributeTests {
  if (!isObject(filter)) throw new FilterFault('must be a JSON object such as {"energy":{"gte":"100"}}');
  const entries = Object.entries(filter);
  if (entries.length > nftFilterLimits.traitsMax) {
    throw new FilterFault(`must have at most ${nftFilterLimits.traitsMax} traits`);
  }
  return new Map(entries.map(([trait, expected]) => [trait, valueTestOf(expected)]));
}

function parseFilter(input: unknown, example: string): unknown {
  if (typeof input !== 'string') return input;
  if (input.length > nftFilterLimits.lengthMax) {
    throw new FilterFault(`must have at most ${nftFilterLimits.lengthMax} characters`);
  }
  try {
    return JSON.parse(input);
  } catch {
    throw new FilterFault(`must be JSON such as ${example}`);
  }
}

const filterSchema = <Test>(read: (json: unknown) => Test, example: string, description: string) =>
  z
    .preprocess(
      (input) => (input === undefined || input === '' ? null : input),
      z.unknown().transform((input, context): Test | null => {
        if (input === null) return null;
        try {
          return read(parseFilter(input, example));
        } catch (thrown) {
          if (!(thrown instanceof FilterFault)) throw thrown;
          context.addIssue({ code: 'custom', message: thrown.message });
          return z.NEVER;
        }
      }),
    )
    .meta({ type: 'string', maxLength: nftFilterLimits.lengthMax, description, examples: [example] });

export const royaltyFilter = () =>
  filterSchema(
    royaltyTestOf,
    '{"gte":5,"lte":10}',
    'Royalty in percent: a number, or JSON that compares it with `gt`, `gte`, `lt` and `lte`.',
  );

export const attributesFilter = () =>
  filterSchema(
    attributeTestsOf,
    '{"energy":{"gte":"100"},"background":"red"}',
    'JSON object: for each trait, its value or a numeric comparison with `gt`, `gte`, `lt` and `lte`. All conditions must hold.',
  );

/** Whether all tests pass. An NFT without off-chain JSON has no attributes, so it fails every test. */
export const matchesAttributes = (
  attributes: Readonly<Record<string, JsonValue>>,
  tests: AttributeTests,
): boolean =>
  [...tests].every(([trait, test]) => {
    const value = Object.hasOwn(attributes, trait) ? attributes[trait] : undefined;
    return value !== undefined && test(value);
  });
