import { expect } from 'vitest';
import { FEATURE_SET, VERSION } from '../../../packages/localnet/src/version.ts';
import {
  aboveProcessed,
  answer,
  arity,
  badAddress,
  context,
  notYet,
  refusal,
  sameResult,
  tuple,
  withoutParameters,
} from '../case-families.ts';
import { type CaseLedger, invalid, type MethodCase } from '../method-case.ts';

/** Chain and history: reference solana-json-rpc.md §1.3, §1.4 and §1.9. */
const SLOTS_PER_EPOCH = 32;
/** Airdrop, payment, failed transaction, version 0 transaction, and a vote in each slot from 2 on. */
const transactionsUpTo = (slot: bigint): number => 4 + Number(slot) - 1;
const UNKNOWN = '1'.repeat(64);

type Checked = NonNullable<MethodCase['check']>;
type At = keyof CaseLedger['at'];

const has = (expected: object) => (result: unknown) => expect(result).toMatchObject(expected);

/** Expected results of methods about the current bank. The ledger has a block in every slot. */
const headMethods: Readonly<Record<string, (at: At) => Checked>> = {
  getSlot: (at) => (result, facts) => expect(result).toBe(Number(facts.at[at])),
  getBlockHeight: (at) => (result, facts) => expect(result).toBe(Number(facts.at[at])),
  getTransactionCount: (at) => (result, facts) => expect(result).toBe(transactionsUpTo(facts.at[at])),
  getSlotLeader: () => (result, facts) => expect(result).toBe(facts.genesis.identity),
  getEpochInfo: (at) => (result, facts) => {
    const absoluteSlot = Number(facts.at[at]);
    expect(result).toEqual({
      absoluteSlot,
      blockHeight: absoluteSlot,
      epoch: Math.floor(absoluteSlot / SLOTS_PER_EPOCH),
      slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: transactionsUpTo(facts.at[at]),
    });
  },
};
const levels = ['processed', 'confirmed', 'finalized'] as const;

/** Expected results of the methods without parameters. */
const still: Readonly<Record<string, Checked>> = {
  getEpochSchedule: has({ firstNormalEpoch: 0, slotsPerEpoch: SLOTS_PER_EPOCH, warmup: false }),
  getGenesisHash: (result, { genesis }) => expect(result).toBe(genesis.hash),
  getHealth: (result) => expect(result).toBe('ok'),
  getIdentity: (result, { genesis }) => expect(result).toEqual({ identity: genesis.identity }),
  getInflationRate: (result, { at }) => {
    const epoch = Math.floor(Number(at.finalized) / SLOTS_PER_EPOCH);
    const { total, validator, foundation } = result as Record<string, number>;
    expect(result).toMatchObject({ epoch });
    expect((validator ?? 0) + (foundation ?? 0)).toBeCloseTo(total ?? 0, 12);
    expect(total).toBeGreaterThan(0.0799);
  },
  getVersion: has({ 'feature-set': FEATURE_SET, 'solana-core': VERSION }),
  getClusterNodes: (result, { genesis }) => expect(result).toMatchObject([{ pubkey: genesis.identity }]),
  getFirstAvailableBlock: (result, { firstSlot }) => expect(result).toBe(Number(firstSlot)),
  minimumLedgerSlot: (result, { firstSlot }) => expect(result).toBe(Number(firstSlot)),
};

const chain: readonly MethodCase[] = [
  ...Object.entries(headMethods).flatMap(([method, checkAt]) => [
    sameResult(method, 'no params and finalized', undefined, '[{"commitment":"finalized"}]'),
    ...levels.map((commitment) =>
      answer(method, `the ${commitment} value`, checkAt(commitment), JSON.stringify([{ commitment }])),
    ),
    ...arity(method, 0, 1),
    ...context(method, null),
  ]),
  ...Object.entries(still).flatMap(([method, check]) => withoutParameters(method, check)),
  answer('getLatestBlockhash', 'a hash valid for 150 blocks', (result, { at, blockhash }) =>
    expect(result).toMatchObject({
      value: { blockhash, lastValidBlockHeight: Number(at.finalized) + 150 },
    }),
  ),
  answer('getStakeMinimumDelegation', 'lamports', has({ value: 1_000_000_000 })),
  ...['getLatestBlockhash', 'getStakeMinimumDelegation'].flatMap((method) => [
    ...arity(method, 0, 1),
    ...context(method, null),
  ]),
  answer(
    'getSlotLeaders',
    'the leaders of a range',
    (result, { genesis }) => expect(result).toEqual([genesis.identity, genesis.identity]),
    ({ finalized }) => [finalized, 2],
  ),
  tuple('getSlotLeaders', 2),
  answer('getLeaderSchedule', 'the current epoch', (result, { genesis }) =>
    expect(Object.keys(result as object)).toEqual([genesis.identity]),
  ),
  ...arity('getLeaderSchedule', 0, 2),
  answer('getVoteAccounts', 'its own vote account', (result, { genesis }) =>
    expect(result).toMatchObject({ current: [{ votePubkey: genesis.voteAccount }] }),
  ),
  ...arity('getVoteAccounts', 0, 1),
  answer('getSupply', 'a total', has({ value: { total: expect.anything() } })),
  ...arity('getSupply', 0, 1),
  answer('getRecentPrioritizationFees', 'the fees of blocks', (result, { slot, versioned }) => {
    const slots = (result as { slot: number }[]).map((fee) => fee.slot);
    expect(slots.slice(-3)).toEqual([Number(slot), Number(slot) + 1, Number(versioned.slot)]);
  }),
  refusal('getRecentPrioritizationFees', 'an invalid address', invalid('Invalid param: Invalid'), '[["0"]]'),
  ...arity('getRecentPrioritizationFees', 0, 1),
  answer('isBlockhashValid', 'true if recent', has({ value: true }), ({ blockhash }) => [blockhash]),
  ...arity('isBlockhashValid', 1, 2),
  ...context('isBlockhashValid', '"11111111111111111111111111111111"'),
];

const cleanedUp = { code: -32001, message: /^Block 1 cleaned up, does not exist on node\. First available/ };
const noText = invalid('Invalid params: invalid type: string "1", expected u64.');

const history: readonly MethodCase[] = [
  answer(
    'getBlock',
    'a block, in which the vote of the node is the first transaction',
    (result, { slot, signature }) =>
      expect(result).toMatchObject({
        parentSlot: Number(slot) - 1,
        transactions: [{ meta: { fee: 10_000 } }, { transaction: { signatures: [signature] } }],
      }),
    ({ slot }) => [slot, { maxSupportedTransactionVersion: 0 }],
  ),
  refusal('getBlock', 'a slot that was deleted', cleanedUp, '[1]'),
  aboveProcessed('getBlock', ({ slot }) => [slot, { commitment: 'processed' }]),
  ...arity('getBlock', 1, 2),
  answer(
    'getBlockTime',
    'Unix seconds',
    (time) => expect(time).toBeGreaterThan(1.7e9),
    ({ slot }) => [slot],
  ),
  refusal('getBlockTime', 'a slot that was deleted', cleanedUp, '[1]'),
  refusal('getBlockTime', 'a string', noText, '["1"]'),
  answer(
    'getBlocks',
    'the slots of a range',
    (result) => expect(result).toHaveLength(3),
    ({ slot }) => [slot, slot + 2n],
  ),
  notYet('getBlocks', ({ slot }) => [slot, null, { minContextSlot: 2 ** 50 }]),
  ...arity('getBlocks', 1, 3),
  answer(
    'getBlocksWithLimit',
    'a limited number of slots',
    (result) => expect(result).toHaveLength(2),
    ({ slot }) => [slot, 2],
  ),
  notYet('getBlocksWithLimit', ({ slot }) => [slot, 2, { minContextSlot: 2 ** 50 }]),
  ...arity('getBlocksWithLimit', 2, 3),
  answer(
    'getTransaction',
    'a failed transaction',
    has({ meta: { status: { Err: expect.anything() } } }),
    (ledger) => [ledger.failed],
  ),
  ...arity('getTransaction', 1, 2),
  answer(
    'getSignaturesForAddress',
    'signatures before a given one',
    // Only the airdrop precedes it.
    (result, { slot }) => expect(result).toMatchObject([{ slot: Number(slot) - 1, err: null }]),
    ({ wallet, signature }) => [wallet, { before: signature }],
  ),
  notYet('getSignaturesForAddress', ({ wallet }) => [wallet, { minContextSlot: 2 ** 50 }]),
  ...badAddress('getSignaturesForAddress'),
  ...arity('getSignaturesForAddress', 1, 2),
  answer(
    'getSignatureStatuses',
    'a finalized status, and null for an unknown signature',
    has({ value: [{ confirmationStatus: 'finalized' }, null] }),
    ({ signature }) => [[signature, UNKNOWN], { searchTransactionHistory: true }],
  ),
  ...arity('getSignatureStatuses', 1, 2),
];

const limit = (most: number) => invalid(`Invalid limit; max ${most}`);
const listOf =
  (signatures: (facts: CaseLedger) => string[]): Checked =>
  (result, facts) => {
    const { data } = result as { data: { signature: string }[] };
    expect(data.map(({ signature }) => signature)).toEqual(signatures(facts));
  };

const addressHistory: readonly MethodCase[] = [
  answer(
    'getTransactionsForAddress',
    'a page and a pagination token',
    (result, { versioned }) =>
      expect(result).toMatchObject({
        data: [{ signature: versioned.signature }],
        paginationToken: `${versioned.slot}:1`,
      }),
    ({ wallet }) => [wallet, { limit: 1 }],
  ),
  answer(
    'getTransactionsForAddress',
    'full transactions, oldest first, from a position',
    (result) => expect((result as { data: unknown[] }).data).toHaveLength(2),
    ({ wallet, slot }) => [
      wallet,
      {
        ...{ transactionDetails: 'full', sortOrder: 'asc', maxSupportedTransactionVersion: 0 },
        paginationToken: `${slot}:1`,
      },
    ],
  ),
  answer(
    'getTransactionsForAddress',
    'failed transactions',
    listOf(({ failed }) => [failed]),
    ({ wallet }) => [wallet, { filters: { status: 'failed' } }],
  ),
  answer(
    'getTransactionsForAddress',
    'transactions within bounds',
    listOf(({ signature }) => [signature]),
    ({ wallet, slot, signature }) => [
      wallet,
      {
        filters: { slot: { gte: slot, lt: slot + 1n }, signature: { lte: signature }, blockTime: { gte: 0 } },
      },
    ],
  ),
  refusal(
    'getTransactionsForAddress',
    'an unsupported version',
    { code: -32015, message: /^Transaction version \(0\) is not supported/ },
    ({ wallet }) => [wallet, { transactionDetails: 'full' }],
  ),
  refusal(
    'getTransactionsForAddress',
    'an unknown signature',
    { code: -32020, message: `Transaction ${UNKNOWN} not found` },
    ({ wallet }) => [wallet, { filters: { signature: { gt: UNKNOWN } } }],
  ),
  refusal(
    'getTransactionsForAddress',
    'an invalid pagination token',
    invalid('Invalid paginationToken; expected "<slot>:<position>"'),
    ({ wallet }) => [wallet, { paginationToken: 'x' }],
  ),
  refusal('getTransactionsForAddress', 'too many signatures', limit(1000), ({ wallet }) => [
    wallet,
    { limit: 1001 },
  ]),
  refusal('getTransactionsForAddress', 'too many transactions', limit(100), ({ wallet }) => [
    wallet,
    { limit: 101, transactionDetails: 'full' },
  ]),
  refusal(
    'getTransactionsForAddress',
    'an unknown status',
    invalid('Invalid params: unknown variant `good`, expected one of `any`, `succeeded`, `failed`.'),
    ({ wallet }) => [wallet, { filters: { status: 'good' } }],
  ),
  aboveProcessed('getTransactionsForAddress', ({ wallet }) => [wallet, { commitment: 'processed' }]),
  ...badAddress('getTransactionsForAddress'),
  ...arity('getTransactionsForAddress', 1, 2),
  ...context('getTransactionsForAddress', '"11111111111111111111111111111111"'),
];

export const cases = [...chain, ...history, ...addressHistory];
