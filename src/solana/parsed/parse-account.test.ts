import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { type Blockhash, blockhashFromBytes } from '../blockhash.ts';
import { encodeNonce } from '../nonce.ts';
import { programs, sysvarOwner, sysvars } from '../programs.ts';
import { encodeStakeState } from '../stake-state.ts';
import {
  DEFAULT_RENT,
  encodeClock,
  encodeEpochRewards,
  encodeEpochSchedule,
  encodeRecentBlockhashes,
  encodeRent,
  encodeSlotHashes,
  encodeSlotHistory,
  encodeStakeHistory,
  fullSlotHistory,
} from '../sysvars.ts';
import { epoch, lamports, slot } from '../units.ts';
import { encodeVoteState, NO_PRIOR_VOTERS } from '../vote-state.ts';
import { parseAccountData } from './parse-account.ts';

const key = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));
const hash = (n: number): Blockhash => blockhashFromBytes(new Uint8Array(32).fill(n));

function shown(owner: Address, data: Uint8Array, at = key(99)): JsonValue {
  const account = { lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n };
  const parsed = parseAccountData(at, account);
  return parsed === null ? null : parseJson(writeJson(parsed));
}

const sysvar = (at: Address, data: Uint8Array): JsonValue => shown(sysvarOwner, data, at);

describe('nonce account', () => {
  const data = { authority: key(1), durableNonce: hash(2), lamportsPerSignature: 5000n };

  it('is parsed when initialized', () => {
    expect(shown(programs.system, encodeNonce({ version: 'current', data }))).toEqual({
      program: 'nonce',
      parsed: {
        type: 'initialized',
        info: { authority: key(1), blockhash: hash(2), feeCalculator: { lamportsPerSignature: '5000' } },
      },
      space: 80,
    });
  });

  it('is unparsed until initialized', () => {
    expect(shown(programs.system, encodeNonce({ version: 'current', data: null }))).toBeNull();
    expect(shown(programs.system, new Uint8Array())).toBeNull();
  });
});

describe('stake account', () => {
  const meta = {
    rentExemptReserve: 2282880n,
    authorized: { staker: key(1), withdrawer: key(2) },
    lockup: { unixTimestamp: -1n, epoch: 3n, custodian: key(4) },
  };
  const info = {
    ...meta,
    rentExemptReserve: '2282880',
    lockup: { unixTimestamp: -1, epoch: 3, custodian: key(4) },
  };

  it('shows the delegation if present', () => {
    const delegation = {
      voter: key(5),
      stake: 9_007_199_254_740_993n,
      activationEpoch: 6n,
      deactivationEpoch: 18446744073709551615n,
      warmupCooldownRate: 0.25,
    };
    const stake = { delegation, creditsObserved: 18446744073709551615n };
    const delegated = encodeStakeState({ type: 'delegated', meta, stake, flags: 0 });
    expect(shown(programs.stake, delegated)).toEqual({
      program: 'stake',
      parsed: {
        type: 'delegated',
        info: {
          meta: info,
          stake: {
            delegation: {
              voter: key(5),
              stake: '9007199254740993',
              activationEpoch: '6',
              deactivationEpoch: '18446744073709551615',
            },
            creditsObserved: 18446744073709551615n,
          },
        },
      },
      space: 200,
    });
    expect(shown(programs.stake, encodeStakeState({ type: 'initialized', meta }))).toMatchObject({
      parsed: { type: 'initialized', info: { meta: info, stake: null } },
    });
  });

  it('has no info when empty', () => {
    expect(shown(programs.stake, encodeStakeState({ type: 'rewardsPool' }))).toEqual({
      program: 'stake',
      parsed: { type: 'rewardsPool' },
      space: 200,
    });
    expect(shown(programs.stake, Uint8Array.of(1, 2, 3, 4))).toBeNull();
  });
});

describe('vote account', () => {
  const shared = {
    node: key(1),
    authorizedWithdrawer: key(2),
    votes: [{ latency: 2, slot: 7n, confirmationCount: 31 }],
    rootSlot: 6n,
    authorizedVoters: [{ epoch: 1n, voter: key(3) }],
    epochCredits: [{ epoch: 1n, credits: 20n, previousCredits: 10n }],
    lastTimestamp: { slot: 7n, timestamp: 1_700_000_000n },
  };
  const info = {
    nodePubkey: key(1),
    authorizedWithdrawer: key(2),
    votes: [{ latency: 2, slot: 7, confirmationCount: 31 }],
    rootSlot: 6,
    authorizedVoters: [{ epoch: 1, authorizedVoter: key(3) }],
    priorVoters: [],
    epochCredits: [{ epoch: 1, credits: '20', previousCredits: '10' }],
    lastTimestamp: { slot: 7, timestamp: 1_700_000_000 },
  };

  it('is shown as the newest version', () => {
    const data = encodeVoteState({ version: 'V3', ...shared, commission: 7, priorVoters: NO_PRIOR_VOTERS });
    expect(shown(programs.vote, data, key(9))).toEqual({
      program: 'vote',
      parsed: {
        type: 'vote',
        info: {
          ...info,
          commission: 7,
          inflationRewardsCommissionBps: 700,
          inflationRewardsCollector: key(9),
          blockRevenueCollector: key(1),
          blockRevenueCommissionBps: 10_000,
          pendingDelegatorRewards: '0',
          blsPubkeyCompressed: null,
        },
      },
      space: 3762,
    });
  });

  it('shows its own collectors in the newest version', () => {
    const data = encodeVoteState({
      version: 'V4',
      ...shared,
      inflationRewardsCollector: key(4),
      blockRevenueCollector: key(5),
      inflationRewardsCommissionBps: 1_050,
      blockRevenueCommissionBps: 0,
      pendingDelegatorRewards: 11n,
      blsPublicKey: new Uint8Array(48),
    });
    expect(shown(programs.vote, data)).toMatchObject({
      parsed: {
        info: {
          ...info,
          commission: 11,
          inflationRewardsCollector: key(4),
          blockRevenueCollector: key(5),
          inflationRewardsCommissionBps: 1_050,
          blockRevenueCommissionBps: 0,
          pendingDelegatorRewards: '11',
          blsPubkeyCompressed: '1'.repeat(48),
        },
      },
    });
  });

  it('is unparsed while empty', () => {
    expect(shown(programs.vote, new Uint8Array(3762))).toBeNull();
  });
});

describe('sysvar', () => {
  it('is identified by address', () => {
    const clock = { slot: slot(1), epochStartTimestamp: 2n, epoch: epoch(3), leaderScheduleEpoch: epoch(4) };
    const data = encodeClock({ ...clock, unixTimestamp: 5n });
    expect(sysvar(sysvars.clock, data)).toEqual({
      program: 'sysvar',
      parsed: {
        type: 'clock',
        info: { slot: 1, epoch: 3, epochStartTimestamp: 2, leaderScheduleEpoch: 4, unixTimestamp: 5 },
      },
      space: 40,
    });
    expect(sysvar(key(1), data)).toBeNull();
    expect(sysvar(sysvars.clock, data.subarray(1))).toBeNull();
  });

  it('shows lists with amounts as nodes do', () => {
    const recent = [{ blockhash: hash(1), lamportsPerSignature: 5000n }];
    expect(sysvar(sysvars.recentBlockhashes, encodeRecentBlockhashes(recent))).toMatchObject({
      parsed: {
        type: 'recentBlockhashes',
        info: [{ blockhash: hash(1), feeCalculator: { lamportsPerSignature: '5000' } }],
      },
    });
    expect(sysvar(sysvars.slotHashes, encodeSlotHashes([{ slot: slot(8), hash: hash(2) }]))).toMatchObject({
      parsed: { type: 'slotHashes', info: [{ slot: 8, hash: hash(2) }] },
    });
    const stake = { epoch: epoch(1), effective: 10n, activating: 2n, deactivating: 3n };
    expect(sysvar(sysvars.stakeHistory, encodeStakeHistory([stake]))).toMatchObject({
      parsed: {
        type: 'stakeHistory',
        info: [{ epoch: 1, stakeHistory: { effective: 10, activating: 2, deactivating: 3 } }],
      },
    });
  });

  it('shows the slot history as digits from slot 0', () => {
    const data = encodeSlotHistory(fullSlotHistory(9n));
    const { parsed } = sysvar(sysvars.slotHistory, data) as {
      parsed: { info: { bits: string; nextSlot: number } };
    };
    expect(parsed.info.nextSlot).toBe(10);
    expect(parsed.info.bits).toBe('1'.repeat(10).padEnd(1_048_576, '0'));
  });

  it('shows rent per byte', () => {
    expect(sysvar(sysvars.rent, encodeRent(DEFAULT_RENT))).toMatchObject({
      parsed: { type: 'rent', info: { lamportsPerByte: '6960' } },
    });
  });

  it('shows epochs', () => {
    const schedule = {
      slotsPerEpoch: 432_000n,
      leaderScheduleSlotOffset: 432_000n,
      warmup: true,
      firstNormalEpoch: 14n,
      firstNormalSlot: 524_256n,
    };
    expect(sysvar(sysvars.epochSchedule, encodeEpochSchedule(schedule))).toMatchObject({
      parsed: {
        type: 'epochSchedule',
        info: { slotsPerEpoch: 432_000, warmup: true, firstNormalEpoch: 14, firstNormalSlot: 524_256 },
      },
    });
    const rewards = {
      distributionStartingBlockHeight: 1n,
      numPartitions: 2n,
      parentBlockhash: hash(3),
      totalPoints: 1n << 100n,
      totalRewards: 5n,
      distributedRewards: 6n,
      active: true,
    };
    expect(sysvar(sysvars.epochRewards, encodeEpochRewards(rewards))).toMatchObject({
      parsed: {
        type: 'epochRewards',
        info: { totalPoints: String(1n << 100n), totalRewards: '5', distributedRewards: '6', active: true },
      },
    });
  });
});

describe('lookup table', () => {
  it('shows addresses and omits a missing authority', () => {
    const data = new Uint8Array(56 + 64);
    data[0] = 1;
    data.fill(0xff, 4, 12);
    data[12] = 9;
    data.fill(5, 56);
    const info = {
      addresses: [key(5), key(5)],
      deactivationSlot: '18446744073709551615',
      lastExtendedSlot: '9',
      lastExtendedSlotStartIndex: 0,
    };
    expect(shown(programs.addressLookupTable, data)).toEqual({
      program: 'address-lookup-table',
      parsed: { type: 'lookupTable', info },
      space: 120,
    });
    data[21] = 1;
    data.fill(6, 22, 54);
    expect(shown(programs.addressLookupTable, data)).toMatchObject({
      parsed: { info: { ...info, authority: key(6) } },
    });
  });

  it('reports an uninitialized table', () => {
    expect(shown(programs.addressLookupTable, new Uint8Array(56))).toMatchObject({
      parsed: { type: 'uninitialized' },
    });
    expect(shown(programs.addressLookupTable, new Uint8Array())).toBeNull();
  });
});

describe('upgradeable loader account', () => {
  const loader = programs.bpfUpgradeableLoader;

  it('is a program, program data or a buffer', () => {
    const program = Uint8Array.of(2, 0, 0, 0, ...new Uint8Array(32).fill(4));
    expect(shown(loader, program)).toEqual({
      program: 'bpf-upgradeable-loader',
      parsed: { type: 'program', info: { programData: key(4) } },
      space: 36,
    });
    const head = [3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, ...new Uint8Array(32).fill(5)];
    expect(shown(loader, Uint8Array.of(...head, 1, 2, 3))).toMatchObject({
      parsed: { type: 'programData', info: { slot: 7, authority: key(5), data: ['AQID', 'base64'] } },
    });
    expect(shown(loader, Uint8Array.of(1, 0, 0, 0, 0, 9))).toMatchObject({
      parsed: { type: 'buffer', info: { authority: null, data: ['CQ==', 'base64'] } },
    });
    expect(shown(loader, new Uint8Array(4))).toMatchObject({ parsed: { type: 'uninitialized' } });
  });

  it('is unparsed when truncated', () => {
    expect(shown(loader, Uint8Array.of(2, 0, 0, 0, 1))).toBeNull();
    expect(shown(loader, Uint8Array.of(1, 0, 0, 0, 2))).toBeNull();
  });
});
