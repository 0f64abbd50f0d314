import { describe, expect, it } from 'vitest';
import { address } from './address.ts';
import { stakeActivation, stakeHistoryLookup } from './stake-activation.ts';
import { epoch, U64_MAX } from './units.ts';

const delegation = (stake: bigint, activationEpoch: bigint, deactivationEpoch = U64_MAX) => ({
  voter: address('11111111111111111111111111111111'),
  ...{ stake, activationEpoch, deactivationEpoch, warmupCooldownRate: 0.25 },
});

const history = (rows: readonly (readonly [number, bigint, bigint, bigint])[]) =>
  stakeHistoryLookup(
    rows.map(([at, effective, activating, deactivating]) => ({
      ...{ epoch: epoch(at), effective, activating, deactivating },
    })),
  );
const none = history([]);

describe('stake delegation', () => {
  it('is fully effective from genesis', () => {
    expect(stakeActivation(delegation(100n, U64_MAX), 0n, none).effective).toBe(100n);
  });

  it('is activating but not effective in its first epoch', () => {
    expect(stakeActivation(delegation(100n, 5n), 4n, none)).toEqual({
      ...{ effective: 0n, activating: 0n, deactivating: 0n },
    });
    expect(stakeActivation(delegation(100n, 5n), 5n, none)).toMatchObject({
      effective: 0n,
      activating: 100n,
    });
  });

  it('is never effective when deactivated in the same epoch', () => {
    expect(stakeActivation(delegation(100n, 5n, 5n), 9n, none).effective).toBe(0n);
  });

  it('warms up by 9 % of the cluster per epoch', () => {
    const cluster = history([
      [5, 1000n, 500n, 0n],
      [6, 1090n, 410n, 0n],
    ]);
    const all = delegation(500n, 5n);
    expect(stakeActivation(all, 6n, cluster)).toMatchObject({ effective: 90n, activating: 410n });
    expect(stakeActivation(all, 7n, cluster)).toMatchObject({ effective: 188n, activating: 312n });
    // Two delegations share the rate.
    expect(stakeActivation(delegation(250n, 5n), 6n, cluster).effective).toBe(45n);
  });

  it('is fully effective at once when little stake moves', () => {
    const cluster = history([[5, 1_000_000n, 100n, 0n]]);
    expect(stakeActivation(delegation(100n, 5n), 6n, cluster)).toMatchObject({
      effective: 100n,
      activating: 0n,
    });
  });

  it('cools down by 9 % of the cluster per epoch after deactivation', () => {
    const cluster = history([
      [8, 1000n, 0n, 500n],
      [9, 910n, 0n, 410n],
    ]);
    const leaving = delegation(500n, U64_MAX, 8n);
    expect(stakeActivation(leaving, 8n, cluster)).toEqual({
      ...{ effective: 500n, activating: 0n, deactivating: 500n },
    });
    expect(stakeActivation(leaving, 9n, cluster).effective).toBe(410n);
    expect(stakeActivation(leaving, 10n, cluster).effective).toBe(329n);
  });

  it('is zero beyond the history of its deactivation', () => {
    expect(stakeActivation(delegation(500n, U64_MAX, 8n), 9n, none).effective).toBe(0n);
  });
});
