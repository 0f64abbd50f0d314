import { expect } from 'vitest';
import {
  aboveProcessed,
  answer,
  arity,
  badAddress,
  context,
  refusal,
  sameResult,
  strictConfig,
  tuple,
  withoutParameters,
} from '../case-families.ts';
import { type CaseLedger, fixed, invalid, type MethodCase, made } from '../method-case.ts';

const U64_MAX = '18446744073709551615';
const SLOTS_PER_EPOCH = 32n;

/** The last epoch whose rewards are paid at `confirmed`, in the second block of the next one. */
const paidEpoch = (at: CaseLedger['at']): bigint => (at.confirmed - 1n) / SLOTS_PER_EPOCH - 1n;

/** Reference solana-json-rpc.md §0, §1.2, §1.3 and §1.4: validators, stakes and what they earn. */
export const cases: readonly MethodCase[] = [
  ...withoutParameters('getAgGenesisCert', (result) => expect(result).toBeNull()),
  ...withoutParameters('getHighestSnapshotSlot', (result, { at }) => {
    const { full, incremental } = result as { full: number; incremental: null };
    expect(incremental).toBeNull();
    expect(full).toBeGreaterThan(0);
    expect(BigInt(full)).toBeLessThanOrEqual(at.finalized);
  }),
  ...['getMaxRetransmitSlot', 'getMaxShredInsertSlot'].flatMap((method) =>
    withoutParameters(method, (result, { at }) => expect(BigInt(result as number)).toBe(at.processed)),
  ),

  answer(
    'getBlockCommitment',
    'a rooted slot',
    made(({ finalized }) => [finalized]),
    (result) => {
      const { commitment, totalStake } = result as { commitment: number[]; totalStake: number };
      expect(commitment.slice(0, 31)).toEqual(Array(31).fill(0));
      expect(commitment[31]).toBe(totalStake);
    },
  ),
  answer(
    'getBlockCommitment',
    'the newest slot, which has one vote',
    made(({ at }) => [at.processed]),
    (result) => expect((result as { commitment: number[] }).commitment[0]).toBeGreaterThan(0),
  ),
  answer('getBlockCommitment', 'null for a slot that nobody knows', fixed(`[${U64_MAX}]`), (result) =>
    expect(result).toMatchObject({ commitment: null }),
  ),
  ...tuple('getBlockCommitment', 1),
  refusal(
    'getBlockCommitment',
    'a text',
    fixed('["5"]'),
    invalid('Invalid params: invalid type: string "5", expected u64.'),
  ),

  answer(
    'getBlockProduction',
    'of this epoch',
    () => undefined,
    (result, { genesis, finalized }) => {
      const firstSlot = finalized - (finalized % SLOTS_PER_EPOCH);
      const count = Number(finalized - firstSlot + 1n);
      expect(result).toMatchObject({
        value: {
          byIdentity: { [genesis.identity]: [count, count] },
          range: { firstSlot: Number(firstSlot), lastSlot: Number(finalized) },
        },
      });
    },
  ),
  answer(
    'getBlockProduction',
    'of a range',
    made(({ finalized }) => [
      { range: { firstSlot: finalized - 2n, lastSlot: finalized }, commitment: 'processed' },
    ]),
    (result, { genesis }) =>
      expect(result).toMatchObject({ value: { byIdentity: { [genesis.identity]: [3, 3] } } }),
  ),
  answer(
    'getBlockProduction',
    'nothing for who leads nothing',
    fixed('[{"identity":"11111111111111111111111111111111"}]'),
    (result) => expect(result).toMatchObject({ value: { byIdentity: {} } }),
  ),
  refusal(
    'getBlockProduction',
    'a range that ends before it begins',
    fixed('[{"range":{"firstSlot":5,"lastSlot":3}}]'),
    invalid('lastSlot, 3, cannot be less than firstSlot, 5'),
  ),
  refusal(
    'getBlockProduction',
    'a range that ends after the newest slot',
    fixed(`[{"range":{"firstSlot":5,"lastSlot":${U64_MAX}}}]`),
    invalid(new RegExp(`^lastSlot, ${U64_MAX}, is too large; max \\d+$`)),
  ),
  refusal(
    'getBlockProduction',
    'an epoch whose leaders are forgotten',
    fixed('[{"range":{"firstSlot":3,"lastSlot":5}}]'),
    invalid('Invalid slot range: leader schedule for epoch 0 is unavailable'),
  ),
  refusal(
    'getBlockProduction',
    'a range without beginning',
    fixed('[{"range":{"lastSlot":3}}]'),
    invalid('Invalid params: missing field `firstSlot`.'),
  ),
  refusal(
    'getBlockProduction',
    'an identity that is none',
    fixed('[{"identity":"1"}]'),
    invalid('Invalid param: WrongSize'),
  ),
  ...arity('getBlockProduction', 0, 1),

  answer(
    'getInflationGovernor',
    'without params',
    () => undefined,
    (result) =>
      expect(result).toEqual({
        foundation: 0.05,
        foundationTerm: 7,
        initial: 0.08,
        taper: 0.15,
        terminal: 0.015,
      }),
  ),
  sameResult(
    'getInflationGovernor',
    'at confirmed and without params',
    fixed('[{"commitment":"confirmed"}]'),
    () => undefined,
  ),
  ...arity('getInflationGovernor', 0, 1),
  ...strictConfig('getInflationGovernor', '').map((row) => ({
    ...row,
    params: (ledger: Parameters<typeof row.params>[0]) => row.params(ledger)?.replace('[,', '['),
  })),

  answer(
    'getInflationReward',
    'what the stake earned, and null for who has none',
    made(({ genesis, at }) => [
      [genesis.stakeAccount, genesis.identity],
      { commitment: 'confirmed', epoch: paidEpoch(at) },
    ]),
    (result, { at }) => {
      const first = (paidEpoch(at) + 1n) * SLOTS_PER_EPOCH;
      expect(result).toEqual([
        {
          amount: expect.any(Number),
          commission: 0,
          effectiveSlot: Number(first) + 1,
          epoch: Number(first / SLOTS_PER_EPOCH) - 1,
          postBalance: expect.any(Number),
        },
        null,
      ]);
    },
  ),
  answer(
    'getInflationReward',
    'for the vote account what its commission gave, in the first block of the epoch',
    made(({ genesis }) => [[genesis.voteAccount]]),
    (result) => expect(result).toMatchObject([{ amount: 0, commission: 0 }]),
  ),
  answer('getInflationReward', 'no addresses', fixed('[[]]'), (result) => expect(result).toEqual([])),
  refusal(
    'getInflationReward',
    'an epoch that is not over',
    made(({ finalized }) => [[], { epoch: finalized / SLOTS_PER_EPOCH }]),
    { code: -32004, message: /^Block not available for slot \d+$/ },
  ),
  refusal('getInflationReward', 'an epoch that is far away', fixed(`[[],{"epoch":${U64_MAX}}]`), {
    code: -32004,
    message: `Block not available for slot ${U64_MAX}`,
  }),
  answer(
    'getInflationReward',
    'for more than 32 addresses',
    made(({ genesis, at }) => [
      Array(33).fill(genesis.identity),
      { commitment: 'confirmed', epoch: paidEpoch(at) },
    ]),
    (result) => expect(result).toEqual(Array(33).fill(null)),
  ),
  refusal('getInflationReward', 'an epoch whose blocks are gone', fixed('[[],{"epoch":0}]'), {
    code: -32001,
    message: /^Block 32 cleaned up, does not exist on node\. First available block: \d+$/,
  }),
  refusal(
    'getInflationReward',
    'an address that is none',
    fixed('[["1"]]'),
    invalid('Invalid param: WrongSize'),
  ),
  aboveProcessed('getInflationReward', () => [[], { commitment: 'processed', epoch: 1 }]),
  ...arity('getInflationReward', 1, 2),
  ...context('getInflationReward', '[]'),

  answer(
    'getLargestAccounts',
    'the faucet, the vote account and the stake first',
    () => undefined,
    (result, { genesis }) => {
      const { value } = result as { value: { address: string; lamports: number }[] };
      const three = value.slice(0, 3).map(({ address }) => address);
      expect(new Set(three)).toEqual(new Set([genesis.faucet, genesis.stakeAccount, genesis.voteAccount]));
      const amounts = value.map(({ lamports }) => lamports);
      expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
      expect(value).toHaveLength(20);
    },
  ),
  answer(
    'getLargestAccounts',
    'what circulates',
    fixed('[{"filter":"circulating","commitment":"confirmed"}]'),
    (result) => expect((result as { value: unknown[] }).value).toHaveLength(20),
  ),
  answer('getLargestAccounts', 'what does not', fixed('[{"filter":"nonCirculating"}]'), (result) =>
    expect(result).toMatchObject({ value: [] }),
  ),
  refusal(
    'getLargestAccounts',
    'a filter that is none',
    fixed('[{"filter":"all"}]'),
    invalid('Invalid params: unknown variant `all`, expected `circulating` or `nonCirculating`.'),
  ),
  ...arity('getLargestAccounts', 0, 1),

  answer(
    'getRecentPerformanceSamples',
    'one for each whole minute',
    () => undefined,
    (result) => {
      const samples = result as { samplePeriodSecs: number; numSlots: number; slot: number }[];
      const period = {
        samplePeriodSecs: 60,
        numSlots: expect.any(Number),
        numTransactions: expect.any(Number),
      };
      expect(samples).toEqual(samples.map(() => expect.objectContaining(period)));
      // The ledger is younger than the test timeout.
      expect(samples.length).toBeLessThan(10);
      expect(samples.every(({ numSlots, slot }) => numSlots > 0 && slot > 0)).toBe(true);
    },
  ),
  answer('getRecentPerformanceSamples', 'none where none is wanted', fixed('[0]'), (result) =>
    expect(result).toEqual([]),
  ),
  refusal('getRecentPerformanceSamples', 'too many', fixed('[721]'), invalid('Invalid limit; max 720')),
  refusal(
    'getRecentPerformanceSamples',
    'far too many',
    fixed(`[${U64_MAX}]`),
    invalid('Invalid limit; max 720'),
  ),
  ...arity('getRecentPerformanceSamples', 0, 1),

  answer(
    'getTransactionsForAddress',
    'the signatures of a wallet',
    made(({ wallet }) => [wallet]),
    (result, { signature, versioned, failed }) => {
      const { data, paginationToken } = result as { data: { signature: string }[]; paginationToken: null };
      const signatures = data.map((line) => line.signature);
      expect(signatures.slice(0, 3)).toEqual([versioned.signature, failed, signature]);
      expect(paginationToken).toBeNull();
    },
  ),
  answer(
    'getTransactionsForAddress',
    'a page, and where the next begins',
    made(({ wallet }) => [wallet, { limit: 1 }]),
    (result, { versioned }) =>
      expect(result).toMatchObject({
        data: [{ signature: versioned.signature }],
        paginationToken: `${versioned.slot}:0`,
      }),
  ),
  answer(
    'getTransactionsForAddress',
    'whole transactions, oldest first, from a place on',
    made(({ wallet, slot }) => [
      wallet,
      {
        transactionDetails: 'full',
        sortOrder: 'asc',
        paginationToken: `${slot}:0`,
        maxSupportedTransactionVersion: 0,
      },
    ]),
    (result) => expect((result as { data: unknown[] }).data).toHaveLength(2),
  ),
  answer(
    'getTransactionsForAddress',
    'those that failed',
    made(({ wallet }) => [wallet, { filters: { status: 'failed' } }]),
    (result, { failed }) => expect(result).toMatchObject({ data: [{ signature: failed }] }),
  ),
  answer(
    'getTransactionsForAddress',
    'those in bounds',
    made(({ wallet, slot, signature }) => [
      wallet,
      {
        filters: { slot: { gte: slot, lt: slot + 1n }, signature: { lte: signature }, blockTime: { gte: 0 } },
      },
    ]),
    (result, { signature }) => expect(result).toMatchObject({ data: [{ signature }] }),
  ),
  refusal(
    'getTransactionsForAddress',
    'a version that the caller does not know',
    made(({ wallet }) => [wallet, { transactionDetails: 'full' }]),
    { code: -32015, message: /^Transaction version \(0\) is not supported/ },
  ),
  refusal(
    'getTransactionsForAddress',
    'a signature that nobody knows',
    made(({ wallet }) => [wallet, { filters: { signature: { gt: '1'.repeat(64) } } }]),
    { code: -32020, message: `Transaction ${'1'.repeat(64)} not found` },
  ),
  refusal(
    'getTransactionsForAddress',
    'a place that is none',
    made(({ wallet }) => [wallet, { paginationToken: 'x' }]),
    invalid('Invalid paginationToken; expected "<slot>:<position>"'),
  ),
  refusal(
    'getTransactionsForAddress',
    'too many signatures',
    made(({ wallet }) => [wallet, { limit: 1001 }]),
    invalid('Invalid limit; max 1000'),
  ),
  refusal(
    'getTransactionsForAddress',
    'too many whole transactions',
    made(({ wallet }) => [wallet, { limit: 101, transactionDetails: 'full' }]),
    invalid('Invalid limit; max 100'),
  ),
  refusal(
    'getTransactionsForAddress',
    'a status that is none',
    made(({ wallet }) => [wallet, { filters: { status: 'good' } }]),
    invalid('Invalid params: unknown variant `good`, expected one of `any`, `succeeded`, `failed`.'),
  ),
  aboveProcessed('getTransactionsForAddress', ({ wallet }) => [wallet, { commitment: 'processed' }]),
  ...badAddress('getTransactionsForAddress'),
  ...arity('getTransactionsForAddress', 1, 2),
  ...context('getTransactionsForAddress', '"11111111111111111111111111111111"'),
];
