import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromBytes } from './address.ts';
import { decodeStakeState, encodeStakeState, type StakeState } from './stake-state.ts';

const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes);

const anyMeta = fc.record({
  rentExemptReserve: u64,
  authorized: fc.record({ staker: key, withdrawer: key }),
  lockup: fc.record({
    unixTimestamp: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    epoch: u64,
    custodian: key,
  }),
});

const anyDelegated = fc.record({
  type: fc.constant('delegated' as const),
  meta: anyMeta,
  stake: fc.record({
    delegation: fc.record({
      voter: key,
      stake: u64,
      activationEpoch: u64,
      deactivationEpoch: u64,
      warmupCooldownRate: fc.double({ noNaN: true }),
    }),
    creditsObserved: u64,
  }),
  flags: fc.nat(255),
});

const anyState: fc.Arbitrary<StakeState> = fc.oneof(
  fc.constantFrom<StakeState>({ type: 'uninitialized' }, { type: 'rewardsPool' }),
  fc.record({ type: fc.constant('initialized' as const), meta: anyMeta }),
  anyDelegated,
);

describe('stake account', () => {
  it('round-trips in 200 bytes', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const bytes = encodeStakeState(state);
        expect(bytes).toHaveLength(200);
        expect(decodeStakeState(bytes)).toEqual(state);
      }),
    );
  });

  it('rejects truncated data and unknown types', () => {
    const [delegated] = fc.sample(anyDelegated, 1);
    expect(decodeStakeState(encodeStakeState(delegated!).subarray(0, 196))).toBeNull();
    expect(decodeStakeState(Uint8Array.of(4, 0, 0, 0))).toBeNull();
    expect(decodeStakeState(new Uint8Array(3))).toBeNull();
  });
});
