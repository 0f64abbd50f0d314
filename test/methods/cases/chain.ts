import { expect } from 'vitest';
import { FEATURE_SET, VERSION } from '../../../packages/localnet/src/version.ts';
import { answer, arity, context, refusal, sameResult, tuple, withoutParameters } from '../case-families.ts';
import { type CaseLedger, fixed, invalid, type MethodCase, made } from '../method-case.ts';

const KEYS_129 = JSON.stringify(Array.from({ length: 129 }, () => '11111111111111111111111111111111'));
const SLOTS_PER_EPOCH = 32;
/** Airdrop, payment, failed transaction and version 0 transaction. */
const TRANSACTIONS = 4;

type Checked = NonNullable<MethodCase['check']>;
type At = keyof CaseLedger['at'];

/** Results of the methods about the current bank. The ledger has a block in every slot. */
const headMethods: Readonly<Record<string, (at: At) => Checked>> = {
  getSlot: (at) => (result, facts) => expect(result).toBe(Number(facts.at[at])),
  getBlockHeight: (at) => (result, facts) => expect(result).toBe(Number(facts.at[at])),
  getTransactionCount: () => (result) => expect(result).toBe(TRANSACTIONS),
  getSlotLeader: () => (result, facts) => expect(result).toBe(facts.genesis.identity),
  getEpochInfo: (at) => (result, facts) => {
    const absoluteSlot = Number(facts.at[at]);
    expect(result).toEqual({
      absoluteSlot,
      blockHeight: absoluteSlot,
      epoch: Math.floor(absoluteSlot / SLOTS_PER_EPOCH),
      slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: TRANSACTIONS,
    });
  },
};
const levels = ['processed', 'confirmed', 'finalized'] as const;

/** Results of the methods without parameters. */
const still: Readonly<Record<string, Checked>> = {
  getEpochSchedule: (result) =>
    expect(result).toEqual({
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
      leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
      slotsPerEpoch: SLOTS_PER_EPOCH,
      warmup: false,
    }),
  getGenesisHash: (result, { genesis }) => expect(result).toBe(genesis.hash),
  getHealth: (result) => expect(result).toBe('ok'),
  getIdentity: (result, { genesis }) => expect(result).toEqual({ identity: genesis.identity }),
  getInflationRate: (result, { at }) => {
    const epoch = Math.floor(Number(at.finalized) / SLOTS_PER_EPOCH);
    expect(result).toMatchObject({ epoch, total: expect.any(Number) });
    const { total, validator, foundation } = result as Record<string, number>;
    expect((validator ?? 0) + (foundation ?? 0)).toBeCloseTo(total ?? 0, 12);
    expect(total).toBeLessThanOrEqual(0.08);
    expect(total).toBeGreaterThan(0.0799);
  },
  getVersion: (result) => expect(result).toEqual({ 'feature-set': FEATURE_SET, 'solana-core': VERSION }),
  getClusterNodes: (result, { genesis }) =>
    expect(result).toMatchObject([{ pubkey: genesis.identity, version: VERSION, featureSet: FEATURE_SET }]),
  getFirstAvailableBlock: (result, { firstSlot }) => expect(result).toBe(Number(firstSlot)),
  minimumLedgerSlot: (result, { firstSlot }) => expect(result).toBe(Number(firstSlot)),
};

/** Reference solana-json-rpc.md §1.3 and §1.5. */
export const cases: readonly MethodCase[] = [
  ...Object.entries(headMethods).flatMap(([method, checkAt]) => [
    sameResult(method, 'no params and finalized', () => undefined, fixed('[{"commitment":"finalized"}]')),
    ...levels.map((commitment) =>
      answer(method, `at ${commitment}`, fixed(JSON.stringify([{ commitment }])), checkAt(commitment)),
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
  ...Object.entries(still).flatMap(([method, check]) => withoutParameters(method, check)),

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
    (result) =>
      expect((result as { prioritizationFee: number }[]).map((fee) => fee.prioritizationFee)).toContain(0),
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
