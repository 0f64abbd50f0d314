import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromBytes } from './address.ts';
import { decodeVoteState, encodeVoteState, NO_PRIOR_VOTERS, type VoteState } from './vote-state.ts';

const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes);

const anyShared = fc.record({
  node: key,
  authorizedWithdrawer: key,
  votes: fc.array(fc.record({ latency: fc.nat(255), slot: u64, confirmationCount: fc.nat(0xffffffff) }), {
    maxLength: 31,
  }),
  rootSlot: fc.option(u64, { nil: null }),
  authorizedVoters: fc.array(fc.record({ epoch: u64, voter: key }), { maxLength: 3 }),
  epochCredits: fc.array(fc.record({ epoch: u64, credits: u64, previousCredits: u64 }), { maxLength: 64 }),
  lastTimestamp: fc.record({ slot: u64, timestamp: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) }),
});

const anyPriorVoters = fc.record({
  entries: fc.array(fc.record({ voter: key, fromEpoch: u64, untilEpoch: u64 }), {
    minLength: 32,
    maxLength: 32,
  }),
  index: fc.bigInt(0n, 31n),
  isEmpty: fc.boolean(),
});

const anyOld = fc.record({
  version: fc.constantFrom('V1_14_11' as const, 'V3' as const),
  commission: fc.nat(255),
  priorVoters: anyPriorVoters,
});

const anyNew = fc.record({
  version: fc.constant('V4' as const),
  inflationRewardsCollector: key,
  blockRevenueCollector: key,
  inflationRewardsCommissionBps: fc.nat(0xffff),
  blockRevenueCommissionBps: fc.nat(0xffff),
  pendingDelegatorRewards: u64,
  blsPublicKey: fc.option(fc.uint8Array({ minLength: 48, maxLength: 48 }), { nil: null }),
});

/** The oldest version has no latencies. */
const anyState: fc.Arbitrary<VoteState> = fc
  .tuple(anyShared, fc.oneof(anyOld, anyNew))
  .map(([shared, own]) => ({
    ...shared,
    ...own,
    votes: own.version === 'V1_14_11' ? shared.votes.map((vote) => ({ ...vote, latency: 0 })) : shared.votes,
  }));

const someone = addressFromBytes(new Uint8Array(32).fill(6));

const small: VoteState = {
  version: 'V1_14_11',
  node: someone,
  authorizedWithdrawer: addressFromBytes(new Uint8Array(32).fill(7)),
  commission: 9,
  votes: [{ latency: 0, slot: 5n, confirmationCount: 2 }],
  rootSlot: 4n,
  authorizedVoters: [{ epoch: 1n, voter: someone }],
  priorVoters: NO_PRIOR_VOTERS,
  epochCredits: [{ epoch: 0n, credits: 3n, previousCredits: 2n }],
  lastTimestamp: { slot: 5n, timestamp: 6n },
};

describe('vote account', () => {
  it('round-trips in every version', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        expect(decodeVoteState(encodeVoteState(state))).toEqual(state);
      }),
      { numRuns: 60 },
    );
  });

  it('has the size of its version', () => {
    expect(encodeVoteState(small)).toHaveLength(3731);
    expect(encodeVoteState({ ...small, version: 'V3' })).toHaveLength(3762);
  });

  it('rejects uninitialized, truncated and miscounted data', () => {
    const bytes = encodeVoteState(small);
    expect(decodeVoteState(new Uint8Array(3762))).toBeNull();
    expect(decodeVoteState(bytes.subarray(0, 200))).toBeNull();
    const counting = Uint8Array.from(bytes).fill(0xff, 4 + 65, 4 + 65 + 8);
    expect(decodeVoteState(counting)).toBeNull();
    const withBadOption = Uint8Array.from(bytes).fill(2, 4 + 65 + 8 + 12, 4 + 65 + 8 + 13);
    expect(decodeVoteState(withBadOption)).toBeNull();
  });
});
