import { describe, expect, it } from 'vitest';
import { callOf, resultOf } from '../../../test/upstream/mock/scripted-dispatcher.ts';
import type { RpcResponse } from '../../protocol/call.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { slot } from '../../solana/units.ts';
import { type CacheTtls, isNegative, ttlFor } from './cache-policy.ts';
import { CallKeys } from './call-key.ts';

const times: CacheTtls = { slotMs: 1, shortMs: 2, finalMs: 3 };
const [NEVER, SLOT, SHORT, FOREVER] = [0, 1, 2, 3];
const ROOT = slot(100n);

/** TTL at finalized below the root; at finalized above it or with an unknown root; at confirmed. */
type Row = readonly [below: number, above: number, confirmed: number];
const always = (ms: number): Row => [ms, ms, ms];
const final: Row = [FOREVER, NEVER, NEVER];

/** TTLs of the methods whose results are cached. */
const lifetime: Readonly<Partial<Record<MethodName, Row>>> = {
  getAccountInfo: always(SLOT),
  getAgGenesisCert: always(SHORT),
  getBlock: final,
  getBlockHeight: always(SLOT),
  // Takes no commitment.
  getBlockTime: [FOREVER, NEVER, FOREVER],
  getEpochInfo: always(SLOT),
  getEpochSchedule: always(FOREVER),
  getGenesisHash: always(FOREVER),
  getIdentity: always(SHORT),
  getInflationGovernor: always(SHORT),
  getInflationRate: always(SHORT),
  getInflationReward: final,
  getLatestBlockhash: always(SLOT),
  getMinimumBalanceForRentExemption: always(SHORT),
  getMultipleAccounts: always(SLOT),
  getSignaturesForAddress: final,
  getSlot: always(SLOT),
  getSlotLeader: always(SLOT),
  getSlotLeaders: always(SHORT),
  getStakeMinimumDelegation: always(SHORT),
  getTokenSupply: always(SLOT),
  getTransaction: [FOREVER, NEVER, FOREVER],
  getTransactionCount: always(SLOT),
  getVersion: always(SHORT),
};

const keys = new CallKeys();

const options: Readonly<Record<string, object>> = {
  getInflationReward: { epoch: 5 },
  getSignaturesForAddress: { before: 's', limit: 1 },
};

/** Key of a call about a slot, with the commitment in its options if it has any. */
function keyAt(method: MethodName, about: number, commitment: Commitment) {
  const { configIndex } = methods[method];
  const first = [about, 'x', 'x'].slice(0, configIndex ?? 1);
  return keys.keyOf(
    callOf(method, configIndex === null ? first : [...first, { ...options[method], commitment }]),
  );
}

const resultAt = (method: MethodName, about: number): RpcResponse =>
  resultOf(
    {
      getInflationReward: `[{"effectiveSlot":${about}}]`,
      getSignaturesForAddress: `[{"signature":"r","slot":${about}}]`,
    }[method as string] ?? `{"meta":{"slot":1},"slot":${about}}`,
  );

function timeOf(
  method: MethodName,
  about: number,
  commitment: Commitment,
  root = ROOT as typeof ROOT | null,
) {
  const key = keyAt(method, about, commitment);
  return key === null ? NEVER : ttlFor(key, resultAt(method, about), root, times);
}

describe('ttlFor', () => {
  it.each(Object.keys(methods) as MethodName[])('caches %s according to the table', (method) => {
    const row = lifetime[method] ?? always(NEVER);
    expect([
      timeOf(method, 100, 'finalized'),
      timeOf(method, 101, 'finalized'),
      timeOf(method, 100, 'confirmed'),
    ]).toEqual(row);
    expect(timeOf(method, 100, 'finalized', null)).toBe(row[1]);
  });

  it.each(Object.keys(lifetime) as MethodName[])('does not cache an error of %s', (method) => {
    for (const commitment of commitments) {
      const key = keyAt(method, 5, commitment);
      const error = { ...resultAt(method, 5), errorCode: -32007 };
      expect(key === null ? NEVER : ttlFor(key, error, ROOT, times)).toBe(NEVER);
    }
  });

  it('does not cache a response with an unknown commitment', () => {
    const key = keys.keyOf(callOf('getAccountInfo', ['a', { commitment: 'recent' }]))!;
    expect(ttlFor(key, resultAt('getAccountInfo', 5), ROOT, times)).toBe(NEVER);
  });

  it('does not cache a relative epoch', () => {
    for (const params of [[['a']], [['a'], { epoch: null }]]) {
      const key = keys.keyOf(callOf('getInflationReward', params))!;
      expect(ttlFor(key, resultAt('getInflationReward', 5), ROOT, times)).toBe(NEVER);
    }
  });

  it('does not cache a transaction whose block time may follow', () => {
    const without = resultOf('{"blockTime":null,"slot":5}');
    const ttlAt = (commitment: Commitment): number =>
      ttlFor(keyAt('getTransaction', 5, commitment)!, without, ROOT, times);
    expect(commitments.map(ttlAt)).toEqual([NEVER, NEVER, NEVER]);
  });

  it('does not cache the newest signatures, nor a page that may end where the history of the node ends', () => {
    for (const config of [{ limit: 1 }, { before: 's', limit: 2 }]) {
      const key = keys.keyOf(callOf('getSignaturesForAddress', ['a', config]))!;
      expect(ttlFor(key, resultAt('getSignaturesForAddress', 5), ROOT, times)).toBe(NEVER);
    }
  });

  it('does not treat a response without a slot as final', () => {
    const key = keys.keyOf(callOf('getTransaction', ['s']))!;
    for (const result of ['{"meta":{"slot":5}}', '{"slot":"5"}', '{"slot":-5}', '"5"', '[5]']) {
      expect(ttlFor(key, resultOf(result), ROOT, times)).toBe(NEVER);
    }
  });
});

describe('isNegative', () => {
  it.each([
    ['null', false],
    ['{"context":{"slot":5},"value":null}', false],
    ['{"value":null,"context":{"slot":5}}', false],
    ['{"context":{"slot":5},"value":[{},null]}', true],
    ['{"context":{"slot":5},"value":[null,{}]}', true],
    ['[null]', true],
  ])('recognizes %s', (result, holes) => {
    expect(isNegative(Buffer.from(result), holes)).toBe(true);
  });

  it.each([
    ['0', false],
    ['{"context":{"slot":5},"value":{"uiAmount":null}}', false],
    ['{"context":{"slot":5},"value":[{"rentEpoch":null}]}', true],
    ['{"err":null,"value":[null]}', false],
  ])('rejects %s', (result, holes) => {
    expect(isNegative(Buffer.from(result), holes)).toBe(false);
  });
});
