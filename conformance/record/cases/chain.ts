import type { WritableJson } from '../../../src/base/json.ts';
import { commitments } from '../../../src/protocol/commitment.ts';
import { call, type RecordedCase, raw } from './recorded-case.ts';

const FAR = raw('9223372036854775807');
const MAX = raw('18446744073709551615');

const production: Readonly<Record<string, WritableJson>> = {
  'of a range': { range: { firstSlot: 0, lastSlot: 1 } },
  'of an open range': { range: { firstSlot: 0 } },
  'of a range that runs back': { range: { firstSlot: 2, lastSlot: 1 } },
  'of a range ahead': { range: { firstSlot: 0, lastSlot: 900_000_000 } },
  'from a slot ahead': { range: { firstSlot: 900_000_000 } },
  'of a range without start': { range: { lastSlot: 1 } },
  'of an empty range': { range: {} },
  'of a null range': { range: null },
  'of a range text': { range: 'x' },
  'of an identity that is no base58': { identity: '0OIl' },
  'of a short identity': { identity: '1111' },
  'of an identity number': { identity: 5 },
};

const votes: Readonly<Record<string, WritableJson>> = {
  'of a key that is no base58': { votePubkey: '0OIl' },
  'of a short key': { votePubkey: '1111' },
  'of a number': { votePubkey: 5 },
  'with unstaked delinquents': { keepUnstakedDelinquents: true },
  'with unstaked delinquents null': { keepUnstakedDelinquents: null },
  'at distance 0': { delinquentSlotDistance: 0 },
  'at the largest distance': { delinquentSlotDistance: MAX },
  'at distance -1': { delinquentSlotDistance: -1 },
};

/** Position, epochs and validators. */
export const chainCases: readonly RecordedCase[] = [
  ...Object.entries(production).map(([label, config]) => call('getBlockProduction', label, [config])),
  call('getBlockProduction', 'of the validator', (f) => [{ identity: f.address('identity') }]),
  call('getBlockProduction', 'of absent', (f) => [{ identity: f.address('absent') }]),
  ...Object.entries(votes).map(([label, config]) => call('getVoteAccounts', label, [config])),
  ...['validator vote', 'vote', 'alice'].flatMap((name) =>
    commitments.map((commitment) =>
      call('getVoteAccounts', `${name} at ${commitment}`, (f) => [
        { votePubkey: f.address(name), commitment },
      ]),
    ),
  ),
  call('getVoteAccounts', 'the unstaked one kept', (f) => [
    { votePubkey: f.address('vote'), keepUnstakedDelinquents: true },
  ]),
  ...[0, 1, 431_999, 432_000, 900_000_000].map((slot) =>
    call('getLeaderSchedule', `at slot ${slot} of absent`, (f) => [slot, { identity: f.address('absent') }]),
  ),
  call('getLeaderSchedule', 'of the validator ahead', (f) => [FAR, { identity: f.address('identity') }]),
  call('getLeaderSchedule', 'config first', (f) => [{ identity: f.address('absent') }]),
  call('getLeaderSchedule', 'config first and again', (f) => [{ identity: f.address('absent') }, {}]),
  call('getLeaderSchedule', 'of no base58', [null, { identity: '0OIl' }]),
  call('getLeaderSchedule', 'of a short key', [null, { identity: '1111' }]),
  ...[0, 1, 5, 5_000, 5_001].map((limit) =>
    call('getSlotLeaders', `${limit} of them`, [limit > 5 ? 900_000_000 : 0, limit]),
  ),
  call('getSlotLeaders', 'far ahead', [900_000_000, 1]),
  call('getSlotLeaders', 'at the largest slot', [MAX, 1]),
  ...[0, 1, 720, 721].map((limit) =>
    call('getRecentPerformanceSamples', `limit ${limit}`, [limit === 720 ? 0 : limit]),
  ),
  ...[0, 1, 2, FAR].map((epoch, index) =>
    call('getInflationReward', `epoch ${['0', '1', '2', 'far ahead'][index]}`, (f) => [
      [f.address('stake')],
      { epoch },
    ]),
  ),
  call('getInflationReward', '32 addresses', (f) => [Array(32).fill(f.address('stake')), { epoch: 0 }]),
  call('getInflationReward', '33 addresses', (f) => [Array(33).fill(f.address('stake')), { epoch: 0 }]),
  call('getInflationReward', 'epoch -1', (f) => [[f.address('stake')], { epoch: -1 }]),
  call('getInflationReward', 'an epoch text', (f) => [[f.address('stake')], { epoch: '0' }]),
  ...commitments.map((commitment) =>
    call('getInflationReward', `at ${commitment}`, (f) => [[f.address('stake')], { epoch: 0, commitment }]),
  ),
  ...commitments.map((commitment) =>
    call('isBlockhashValid', `unknown at ${commitment}`, (f) => [f.address('absent'), { commitment }]),
  ),
  call('isBlockhashValid', 'a new one', (f) => [f.blockhash('unsent')]),
];
