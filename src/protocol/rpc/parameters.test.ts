import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { RpcError } from '../rpc-error.ts';
import {
  at,
  exactly,
  limitInputs,
  noParameters,
  positional,
  readAccountConfig,
  readAddress,
  readBlockhash,
  readContextConfig,
  readSignature,
  readStrictCommitment,
  requireConfirmed,
} from './parameters.ts';
import { readString } from './serde.ts';

/** The RPC error that a reader throws. */
function errorOf(run: () => unknown): [code: number, message: string, data: unknown] {
  try {
    run();
  } catch (error) {
    if (error instanceof RpcError) return [error.code, error.message, error.data];
    throw error;
  }
  throw new Error('nothing was thrown');
}

const SYSTEM = '11111111111111111111111111111111';

const tupleFault = (fault: string): string => `Invalid params: invalid ${fault}.`;

describe('parameter count', () => {
  it.each<[string, () => unknown, string]>([
    ['an object', () => positional({ a: 1 }, 1, 2), '`params` should be an array'],
    ['too few', () => positional([], 1, 2), '`params` should have at least 1 argument(s)'],
    ['too short a tuple', () => exactly([1], 2), tupleFault('length 1, expected a tuple of size 2')],
    [
      'too long a tuple',
      () => exactly([1, 2, 3], 2),
      tupleFault('length 3, expected fewer elements in array'),
    ],
    ['no tuple', () => exactly(undefined, 2), tupleFault('type: null, expected a tuple of size 2')],
  ])('%s is rejected with the message of jsonrpc_core', (_what, run, message) => {
    expect(errorOf(run)).toEqual([-32602, message, undefined]);
  });

  it('is reported when it is wrong', () => {
    expect(errorOf(() => positional('x', 1, 2))).toEqual([-32600, 'Invalid request', undefined]);
    const tooMany = 'Invalid parameters: Expected from 1 to 2 parameters.';
    expect(errorOf(() => positional([1, 2, 3], 1, 2))).toEqual([-32602, tooMany, '"Got: 3"']);
    const some = 'Invalid parameters: No parameters were expected';
    expect(errorOf(() => noParameters([5]))).toEqual([-32602, some, 'Array([Number(5)])']);
  });

  it('is zero for absent, null and []', () => {
    for (const params of [undefined, null, []]) {
      expect(positional(params, 0, 1)).toEqual([]);
      expect(noParameters(params)).toBeUndefined();
    }
    expect(at(['x'], 0, readString)).toBe('x');
  });
});

describe('keys', () => {
  it.each<[string, () => unknown, string]>([
    ['an address with invalid characters', () => readAddress('0OIl'), 'Invalid'],
    ['a short address', () => readAddress('1111'), 'WrongSize'],
    ['a short signature', () => readSignature(SYSTEM), 'WrongSize'],
    ['a short hash', () => readBlockhash('1'), 'WrongSize'],
  ])('%s is rejected', (_what, run, fault) => {
    expect(errorOf(run)).toEqual([-32602, `Invalid param: ${fault}`, undefined]);
  });

  it('of the right length are accepted', () => {
    expect(readAddress(SYSTEM)).toBe(SYSTEM);
    expect(readBlockhash(SYSTEM)).toBe(SYSTEM);
    expect(readSignature('1'.repeat(64))).toBe('1'.repeat(64));
  });
});

it.each<[JsonValue | undefined, string, bigint | null]>([
  [undefined, 'finalized', null],
  [{ commitment: 'confirmed', minContextSlot: 5 }, 'confirmed', 5n],
  [{ commitment: 'recent' }, 'finalized', null],
  [{ commitment: null, minContextSlot: null, unknown: [] }, 'finalized', null],
])('the lenient config %j has the commitment %s', (config, commitment, minContextSlot) => {
  expect(readContextConfig(config)).toEqual({ commitment, minContextSlot });
});

it.each<[JsonValue | undefined, string]>([
  [undefined, 'finalized'],
  [{ commitment: 'processed' }, 'processed'],
  [['confirmed'], 'confirmed'],
  [{ commitment: 'confirmed', minContextSlot: 'ignored' }, 'confirmed'],
])('the strict config %j has the commitment %s', (config, commitment) => {
  expect(readStrictCommitment(config)).toBe(commitment);
});

describe('the account config', () => {
  it('includes encoding and data slice', () => {
    const config = { encoding: 'base64+zstd', dataSlice: { offset: 1, length: 2 }, minContextSlot: 3 };
    expect(readAccountConfig(config)).toEqual({
      encoding: 'base64+zstd',
      dataSlice: { offset: 1, length: 2 },
      commitment: 'finalized',
      minContextSlot: 3n,
    });
    expect(readAccountConfig(null)).toMatchObject({ encoding: null, dataSlice: null });
    expect(readAccountConfig({ dataSlice: [4, 5] }).dataSlice).toEqual({ offset: 4, length: 5 });
  });

  it('has a safe integer for any slice offset', () => {
    const { dataSlice } = readAccountConfig({ dataSlice: { offset: 2n ** 64n - 1n, length: 1 } });
    expect(dataSlice?.offset).toBe(Number.MAX_SAFE_INTEGER);
  });
});

it.each<[(config: JsonValue) => unknown, JsonValue, string]>([
  [readContextConfig, [], 'invalid type: sequence, expected struct RpcContextConfig'],
  [readStrictCommitment, {}, 'missing field `commitment`'],
  [readStrictCommitment, [], 'invalid length 0, expected struct CommitmentConfig with 1 element'],
  [readAccountConfig, { encoding: 5 }, 'invalid type: integer `5`, expected string or map'],
  [readAccountConfig, { dataSlice: { offset: 0 } }, 'missing field `length`'],
])('%o rejects %j', (read, config, text) => {
  expect(errorOf(() => read(config))).toEqual([-32602, `Invalid params: ${text}.`, undefined]);
});

describe('limits', () => {
  it('report the maximum', () => {
    expect(errorOf(() => limitInputs([1, 2, 3], 2))[1]).toBe('Too many inputs provided; max 2');
    expect(limitInputs([1, 2], 2)).toBeUndefined();
  });

  it('exclude historical reads at processed', () => {
    expect(errorOf(() => requireConfirmed('processed'))).toEqual([
      -32602,
      'Method does not support commitment below `confirmed`',
      undefined,
    ]);
    expect(requireConfirmed('confirmed')).toBeUndefined();
  });
});
