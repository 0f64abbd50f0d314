import { expect } from 'vitest';
import {
  aboveProcessed,
  answer,
  arity,
  context,
  refusal,
  sameResult,
  strictConfig,
  tuple,
  withoutParameters,
} from '../case-families.ts';
import { invalid, type MethodCase } from '../method-case.ts';

/** Validators, stakes and rewards: reference solana-json-rpc.md §0, §1.2, §1.3 and §1.4. */
const U64_MAX = '18446744073709551615';
const SLOTS_PER_EPOCH = 32n;

const has = (expected: object) => (result: unknown) => expect(result).toMatchObject(expected);
const empty = (result: unknown) => expect(result).toEqual([]);

const production = (name: string, message: string | RegExp, config: string): MethodCase =>
  refusal('getBlockProduction', name, invalid(message), `[${config}]`);

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
    'the commitment of a rooted slot',
    (result) => {
      const { commitment, totalStake } = result as { commitment: number[]; totalStake: number };
      expect(commitment).toEqual([...Array(31).fill(0), totalStake]);
    },
    ({ finalized }) => [finalized],
  ),
  answer(
    'getBlockCommitment',
    'the commitment of the newest slot, which has one vote',
    (result) => expect((result as { commitment: number[] }).commitment[0]).toBeGreaterThan(0),
    ({ at }) => [at.processed],
  ),
  answer('getBlockCommitment', 'null for an unknown slot', has({ commitment: null }), `[${U64_MAX}]`),
  tuple('getBlockCommitment', 1),

  answer('getBlockProduction', 'the current epoch', (result, { genesis, finalized }) => {
    const firstSlot = finalized - (finalized % SLOTS_PER_EPOCH);
    const count = Number(finalized - firstSlot + 1n);
    const range = { firstSlot: Number(firstSlot), lastSlot: Number(finalized) };
    expect(result).toMatchObject({ value: { byIdentity: { [genesis.identity]: [count, count] }, range } });
  }),
  answer(
    'getBlockProduction',
    'the blocks of a range',
    (result, { genesis }) =>
      expect(result).toMatchObject({ value: { byIdentity: { [genesis.identity]: [3, 3] } } }),
    ({ finalized }) => [
      { range: { firstSlot: finalized - 2n, lastSlot: finalized }, commitment: 'processed' },
    ],
  ),
  answer(
    'getBlockProduction',
    'nothing for another identity',
    (result) => expect(result).toMatchObject({ value: { byIdentity: {} } }),
    '[{"identity":"11111111111111111111111111111111"}]',
  ),
  production(
    'a reversed range',
    'lastSlot, 3, cannot be less than firstSlot, 5',
    '{"range":{"firstSlot":5,"lastSlot":3}}',
  ),
  production(
    'a range that ends after the newest slot',
    new RegExp(`^lastSlot, ${U64_MAX}, is too large; max \\d+$`),
    `{"range":{"firstSlot":5,"lastSlot":${U64_MAX}}}`,
  ),
  production(
    'a range without a start',
    'Invalid params: missing field `firstSlot`.',
    '{"range":{"lastSlot":3}}',
  ),
  production('an invalid identity', 'Invalid param: WrongSize', '{"identity":"1"}'),
  ...arity('getBlockProduction', 0, 1),

  answer('getInflationGovernor', 'its constants', (result) =>
    expect(result).toEqual({
      ...{ foundation: 0.05, foundationTerm: 7, initial: 0.08, taper: 0.15, terminal: 0.015 },
    }),
  ),
  sameResult('getInflationGovernor', 'confirmed', '[{"commitment":"confirmed"}]', undefined),
  ...arity('getInflationGovernor', 0, 1),
  ...strictConfig('getInflationGovernor', ''),

  answer('getInflationReward', 'an empty list', empty, '[[]]'),
  refusal(
    'getInflationReward',
    'an unfinished epoch',
    { code: -32004, message: /^Block not available for slot \d+$/ },
    ({ finalized }) => [[], { epoch: finalized / SLOTS_PER_EPOCH }],
  ),
  refusal(
    'getInflationReward',
    'an epoch whose blocks are deleted',
    { code: -32001, message: /^Block 32 cleaned up, does not exist on node\. First available block: \d+$/ },
    '[[],{"epoch":0}]',
  ),
  refusal('getInflationReward', 'an invalid address', invalid('Invalid param: WrongSize'), '[["1"]]'),
  aboveProcessed('getInflationReward', () => [[], { commitment: 'processed', epoch: 1 }]),
  ...arity('getInflationReward', 1, 2),
  ...context('getInflationReward', '[]'),

  answer('getLargestAccounts', 'the twenty largest', (result, { genesis }) => {
    const { value } = result as { value: { address: string; lamports: number }[] };
    const three = value.slice(0, 3).map(({ address }) => address);
    expect(new Set(three)).toEqual(new Set([genesis.faucet, genesis.stakeAccount, genesis.voteAccount]));
    const amounts = value.map(({ lamports }) => lamports);
    expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
    expect(value).toHaveLength(20);
  }),
  answer(
    'getLargestAccounts',
    'circulating accounts',
    (result) => expect((result as { value: unknown[] }).value).toHaveLength(20),
    '[{"filter":"circulating","commitment":"confirmed"}]',
  ),
  answer('getLargestAccounts', 'no other accounts', has({ value: [] }), '[{"filter":"nonCirculating"}]'),
  refusal(
    'getLargestAccounts',
    'an unknown filter',
    invalid('Invalid params: unknown variant `all`, expected `circulating` or `nonCirculating`.'),
    '[{"filter":"all"}]',
  ),
  ...arity('getLargestAccounts', 0, 1),

  answer('getRecentPerformanceSamples', 'a sample per full minute', (result) => {
    const samples = result as { samplePeriodSecs: number; numSlots: number; slot: number }[];
    // The ledger cannot be older than the test timeout.
    expect(samples.length).toBeLessThan(10);
    for (const { samplePeriodSecs, numSlots, slot } of samples)
      expect([samplePeriodSecs, numSlots > 0, slot > 0]).toEqual([60, true, true]);
  }),
  answer('getRecentPerformanceSamples', 'none for a limit of 0', empty, '[0]'),
  refusal('getRecentPerformanceSamples', 'an excessive limit', invalid('Invalid limit; max 720'), '[721]'),
  ...arity('getRecentPerformanceSamples', 0, 1),
];
