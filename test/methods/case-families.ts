import { type CaseError, fixed, invalid, type MethodCase, made } from './method-case.ts';

/** Cases shared by many methods, with Agave's messages (reference solana-json-rpc.md §1.0 and §2.3). */

export const refusal = (
  method: string,
  name: string,
  params: MethodCase['params'],
  error: CaseError,
): MethodCase => ({ method, name: `${method} refuses ${name}`, params, error });

/** @param check - checks the result. */
export const answer = (
  method: string,
  name: string,
  params: MethodCase['params'],
  check: NonNullable<MethodCase['check']>,
): MethodCase => ({ method, name: `${method} answers ${name}`, params, check });

/** Equivalent params: the response is the same text. */
export const sameResult = (
  method: string,
  name: string,
  params: MethodCase['params'],
  sameAs: MethodCase['params'],
): MethodCase => ({ method, name: `${method} answers ${name} alike`, params, sameAs });

/** A method without parameters accepts none, null and an empty list, and refuses any. */
export const withoutParameters = (method: string, check: NonNullable<MethodCase['check']>): MethodCase[] => [
  answer(method, 'without params', () => undefined, check),
  sameResult(method, 'an empty list', fixed('[]'), () => undefined),
  sameResult(method, 'null', fixed('null'), () => undefined),
  refusal(method, 'a parameter', fixed('[1]'), invalid('Invalid parameters: No parameters were expected')),
];

/** Invalid addresses as the first parameter. */
export const badAddress = (method: string, rest = ''): MethodCase[] => [
  refusal(method, 'an address that is no base58', fixed(`["0"${rest}]`), invalid('Invalid param: Invalid')),
  refusal(method, 'an address that is too short', fixed(`["1"${rest}]`), invalid('Invalid param: WrongSize')),
];

/** Too few and too many parameters. */
export const arity = (method: string, least: number, most: number): MethodCase[] => {
  const given = most + 1;
  const tooMany = fixed(JSON.stringify(Array.from({ length: given }, () => null)));
  const few =
    least === 0
      ? []
      : [
          refusal(
            method,
            'no parameter',
            fixed('[]'),
            invalid(`\`params\` should have at least ${least} argument(s)`),
          ),
        ];
  return [
    ...few,
    refusal(
      method,
      'too many parameters',
      tooMany,
      invalid(`Invalid parameters: Expected from ${least} to ${most} parameters.`, `"Got: ${given}"`),
    ),
    refusal(method, 'an object for params', fixed('{"a":1}'), invalid('`params` should be an array')),
  ];
};

/** Methods with required parameters only, which Agave parses as a tuple. */
export const tuple = (method: string, size: number): MethodCase[] => [
  refusal(
    method,
    'no parameter',
    fixed('[]'),
    invalid(`Invalid params: invalid length 0, expected a tuple of size ${size}.`),
  ),
];

/** A slot not reached yet (-32016). */
export const notYet = (method: string, params: MethodCase['params']): MethodCase =>
  refusal(method, 'a state that is not there yet', params, {
    code: -32016,
    message: 'Minimum context slot has not been reached',
    data: ({ at }) => ({ contextSlot: Number(at.finalized) }),
  });

/** The same, and an unknown commitment, which Agave ignores. */
export const context = (method: string, first: string | null): MethodCase[] => {
  const lead = first === null ? '' : `${first},`;
  const finalized = fixed(`[${lead}{"commitment":"finalized"}]`);
  return [
    notYet(method, fixed(`[${lead}{"minContextSlot":18446744073709551615}]`)),
    sameResult(
      method,
      'a commitment that is none and finalized',
      fixed(`[${lead}{"commitment":"recent"}]`),
      finalized,
    ),
    sameResult(method, 'a member that it does not know', fixed(`[${lead}{"colour":"red"}]`), finalized),
  ];
};

/** A strict config: `commitment` is required and one of three. */
export const strictConfig = (method: string, first: string): MethodCase[] => [
  refusal(
    method,
    'a config without commitment',
    fixed(`[${first},{}]`),
    invalid('Invalid params: missing field `commitment`.'),
  ),
  refusal(
    method,
    'a commitment that is none',
    fixed(`[${first},{"commitment":"recent"}]`),
    invalid(/^Invalid params: unknown variant `recent`, expected one of /),
  ),
];

/** History needs at least `confirmed`. */
export const aboveProcessed = (method: string, make: Parameters<typeof made>[0]): MethodCase =>
  refusal(method, 'processed', made(make), invalid('Method does not support commitment below `confirmed`'));
