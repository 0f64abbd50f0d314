import { expect } from 'vitest';
import { answer, arity, context, refusal, tuple, withoutParameters } from '../case-families.ts';
import { fixed, invalid, type MethodCase, made } from '../method-case.ts';

const KEYS_129 = JSON.stringify(Array.from({ length: 129 }, () => '11111111111111111111111111111111'));
const headMethods = ['getSlot', 'getBlockHeight', 'getTransactionCount', 'getEpochInfo', 'getSlotLeader'];

/** Reference solana-json-rpc.md §1.3 and §1.5. */
export const cases: readonly MethodCase[] = [
  ...headMethods.flatMap((method) => [
    answer(method, 'without params', () => undefined),
    ...['processed', 'confirmed', 'finalized'].map((commitment) =>
      answer(method, `at ${commitment}`, fixed(JSON.stringify([{ commitment }]))),
    ),
    ...arity(method, 0, 1),
    ...context(method, null),
    refusal(
      method,
      'a number for its config',
      fixed('[5]'),
      invalid('Invalid params: invalid type: integer `5`, expected struct RpcContextConfig.'),
    ),
  ]),
  answer('getSlot', 'the slot of a commitment', fixed('[{"commitment":"processed"}]'), (result, { at }) =>
    expect(BigInt(result as number)).toBe(at.processed),
  ),
  ...[
    'getEpochSchedule',
    'getGenesisHash',
    'getHealth',
    'getIdentity',
    'getInflationRate',
    'getVersion',
  ].flatMap(withoutParameters),
  ...['getClusterNodes', 'getFirstAvailableBlock', 'minimumLedgerSlot'].flatMap(withoutParameters),

  answer(
    'getLatestBlockhash',
    'without params',
    () => undefined,
    (result) =>
      expect(result).toMatchObject({
        value: { blockhash: expect.any(String), lastValidBlockHeight: expect.any(Number) },
      }),
  ),
  ...arity('getLatestBlockhash', 0, 1),
  ...context('getLatestBlockhash', null),
  answer(
    'getStakeMinimumDelegation',
    'without params',
    () => undefined,
    (result) => expect(result).toMatchObject({ value: 1_000_000_000 }),
  ),
  ...arity('getStakeMinimumDelegation', 0, 1),
  ...context('getStakeMinimumDelegation', null),

  answer(
    'getSlotLeaders',
    'a range',
    made(({ finalized }) => [finalized, 3]),
    (result, { genesis }) => expect(result).toEqual([genesis.identity, genesis.identity, genesis.identity]),
  ),
  refusal('getSlotLeaders', 'too many', fixed('[0,5001]'), invalid('Invalid limit; max 5000')),
  refusal(
    'getSlotLeaders',
    'an epoch that is far away',
    fixed('[9223372036854775807,1]'),
    invalid(/^Invalid slot range: leader schedule for epoch \d+ is unavailable$/),
  ),
  ...tuple('getSlotLeaders', 2),

  answer(
    'getLeaderSchedule',
    'of this epoch',
    () => undefined,
    (result, { genesis }) => expect(Object.keys(result as object)).toEqual([genesis.identity]),
  ),
  answer(
    'getLeaderSchedule',
    'null for an epoch that is far away',
    fixed('[9223372036854775807]'),
    (result) => expect(result).toBeNull(),
  ),
  answer(
    'getLeaderSchedule',
    'nothing for a validator that is none',
    fixed('[null,{"identity":"So11111111111111111111111111111111111111119"}]'),
    (result) => expect(result).toEqual({}),
  ),
  refusal(
    'getLeaderSchedule',
    'an identity that is none',
    fixed('[null,{"identity":"0"}]'),
    invalid('Invalid param: Invalid'),
  ),
  ...arity('getLeaderSchedule', 0, 2),

  answer(
    'getVoteAccounts',
    'its own',
    () => undefined,
    (result, { genesis }) =>
      expect(result).toMatchObject({
        current: [{ votePubkey: genesis.voteAccount, nodePubkey: genesis.identity }],
      }),
  ),
  refusal(
    'getVoteAccounts',
    'an address that is none',
    fixed('[{"votePubkey":"0"}]'),
    invalid('Invalid param: Invalid'),
  ),
  ...arity('getVoteAccounts', 0, 1),

  answer(
    'getSupply',
    'without params',
    () => undefined,
    (result) =>
      expect(result).toMatchObject({ value: { total: expect.anything(), circulating: expect.anything() } }),
  ),
  answer('getSupply', 'without the list', fixed('[{"excludeNonCirculatingAccountsList":true}]'), (result) =>
    expect(result).toMatchObject({ value: { nonCirculatingAccounts: [] } }),
  ),
  ...arity('getSupply', 0, 1),

  answer(
    'getRecentPrioritizationFees',
    'of the blocks that have transactions',
    () => undefined,
    (result, { slot, versioned }) => {
      const slots = (result as { slot: number }[]).map((fee) => fee.slot);
      expect(slots.slice(-3)).toEqual([Number(slot), Number(slot) + 1, Number(versioned.slot)]);
    },
  ),
  answer(
    'getRecentPrioritizationFees',
    'of an account',
    made(({ wallet }) => [[wallet]]),
  ),
  refusal(
    'getRecentPrioritizationFees',
    'too many accounts',
    fixed(`[${KEYS_129}]`),
    invalid('Too many inputs provided; max 128'),
  ),
  refusal(
    'getRecentPrioritizationFees',
    'an address that is none',
    fixed('[["0"]]'),
    invalid('Invalid param: Invalid'),
  ),
  ...arity('getRecentPrioritizationFees', 0, 1),

  answer(
    'isBlockhashValid',
    'true for a young one',
    made(({ blockhash }) => [blockhash]),
    (result) => expect(result).toMatchObject({ value: true }),
  ),
  answer(
    'isBlockhashValid',
    'false for one it does not know',
    fixed('["11111111111111111111111111111111"]'),
    (result) => expect(result).toMatchObject({ value: false }),
  ),
  refusal('isBlockhashValid', 'what is no blockhash', fixed('["0"]'), { code: -32602, message: /Invalid/ }),
  ...arity('isBlockhashValid', 1, 2),
  ...context('isBlockhashValid', '"11111111111111111111111111111111"'),
];
