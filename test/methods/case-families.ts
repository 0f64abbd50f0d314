import type { JsonValue, WritableJson } from '../../src/base/json.ts';
import { type CaseError, type CaseLedger, invalid, type MethodCase } from './method-case.ts';

/** Cases shared by many methods, with Agave's messages (reference solana-json-rpc.md §1.0 and §2.3). */

type Params = MethodCase['params'];
type Check = NonNullable<MethodCase['check']>;

export const refusal = (method: string, name: string, error: CaseError, params: Params): MethodCase => ({
  ...{ method, name: `${method} rejects ${name}`, params, error },
});

/** @param expected - checks the result, which may depend on the ledger. */
export const answer = (method: string, name: string, expected: Check, params?: Params): MethodCase => ({
  ...{ method, name: `${method} returns ${name}`, params, check: expected },
});

/** Equivalent params, for which the response is the same text. */
export const sameResult = (method: string, name: string, params: Params, sameAs: Params): MethodCase => ({
  ...{ method, name: `${method} returns the same result for ${name}`, params, sameAs },
});

/** A method without parameters accepts no params, null and an empty list, and rejects any parameter. */
export const withoutParameters = (method: string, check: Check): MethodCase[] => [
  answer(method, 'a result without params', check),
  sameResult(method, 'an empty list', '[]', undefined),
  sameResult(method, 'null', 'null', undefined),
  refusal(method, 'a parameter', invalid('Invalid parameters: No parameters were expected'), '[1]'),
];

/** Invalid addresses as the first parameter. */
export const badAddress = (method: string, rest = ''): MethodCase[] => [
  refusal(method, 'an address that is not base58', invalid('Invalid param: Invalid'), `["0"${rest}]`),
  refusal(method, 'an address that is too short', invalid('Invalid param: WrongSize'), `["1"${rest}]`),
];

/** Too few and too many parameters. */
export function arity(method: string, least: number, most: number): MethodCase[] {
  const few = invalid(`\`params\` should have at least ${least} argument(s)`);
  const many = invalid(
    `Invalid parameters: Expected from ${least} to ${most} parameters.`,
    `"Got: ${most + 1}"`,
  );
  return [
    ...(least === 0 ? [] : [refusal(method, 'no parameter', few, '[]')]),
    refusal(method, 'too many parameters', many, JSON.stringify(Array(most + 1).fill(null))),
    refusal(method, 'params as an object', invalid('`params` should be an array'), '{"a":1}'),
  ];
}

/** Methods with required parameters only, which Agave parses as a tuple. */
export const tuple = (method: string, size: number): MethodCase => {
  const error = invalid(`Invalid params: invalid length 0, expected a tuple of size ${size}.`);
  return refusal(method, 'no parameter', error, '[]');
};

/** A `minContextSlot` that has not been reached (-32016). */
export const notYet = (method: string, params: Params): MethodCase => {
  const data = ({ at }: CaseLedger): JsonValue => ({ contextSlot: Number(at.finalized) });
  const error = { code: -32016, message: 'Minimum context slot has not been reached', data };
  return refusal(method, 'a minContextSlot that has not been reached', error, params);
};

/** `notYet`, and an unknown commitment and an unknown member, which Agave ignores. */
export function context(method: string, first: string | null): MethodCase[] {
  const lead = first === null ? '' : `${first},`;
  const finalized = `[${lead}{"commitment":"finalized"}]`;
  return [
    notYet(method, `[${lead}{"minContextSlot":18446744073709551615}]`),
    sameResult(method, 'an unknown commitment and finalized', `[${lead}{"commitment":"recent"}]`, finalized),
    sameResult(method, 'an unknown member', `[${lead}{"color":"red"}]`, finalized),
  ];
}

/** A strict config: `commitment` is required, and must be one of three values. */
export function strictConfig(method: string, first: string): MethodCase[] {
  const lead = first === '' ? '' : `${first},`;
  const missing = invalid('Invalid params: missing field `commitment`.');
  const unknown = invalid(/^Invalid params: unknown variant `recent`, expected one of /);
  return [
    refusal(method, 'a config without commitment', missing, `[${lead}{}]`),
    refusal(method, 'an unknown commitment', unknown, `[${lead}{"commitment":"recent"}]`),
  ];
}

/** History methods require at least `confirmed`. */
export const aboveProcessed = (method: string, params: (ledger: CaseLedger) => WritableJson): MethodCase =>
  refusal(method, 'processed', invalid('Method does not support commitment below `confirmed`'), params);
