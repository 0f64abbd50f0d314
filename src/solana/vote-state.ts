import { ByteWriter } from '../base/bytes.ts';
import { addressFromBytes } from './address.ts';
import {
  array,
  bool,
  bytes,
  type Codec,
  i64,
  list,
  option,
  pubkey,
  readOrNull,
  struct,
  u8,
  u16,
  u32,
  u64,
} from './codec.ts';

export const VOTE_STATE_BYTES = 3762;
const VOTE_STATE_1_14_11_BYTES = 3731;
const PRIOR_VOTERS = 32;
const BLS_KEY_BYTES = 48;

const lockout = { slot: u64, confirmationCount: u32 };
/** `latency` is in slots; 0 if not recorded. */
const landedVotes = list(struct({ latency: u8, ...lockout }));
const oldVotes: typeof landedVotes = list({
  read: (reader) => ({ latency: 0, ...struct(lockout).read(reader) }),
  write: struct(lockout).write,
});

const node = { node: pubkey, authorizedWithdrawer: pubkey };
const rootAndVoters = {
  rootSlot: option(u64),
  /** Sorted by epoch, ascending. */
  authorizedVoters: list(struct({ epoch: u64, voter: pubkey })),
};
const tail = {
  epochCredits: list(struct({ epoch: u64, credits: u64, previousCredits: u64 })),
  /** `timestamp` is in Unix seconds. */
  lastTimestamp: struct({ slot: u64, timestamp: i64 }),
};

/** Ring buffer of previous voters; `index` points to the newest. Source: solana-vote-interface, `CircBuf`. */
const priorVoters = struct({
  entries: array(PRIOR_VOTERS, struct({ voter: pubkey, fromEpoch: u64, untilEpoch: u64 })),
  ...{ index: u64, isEmpty: bool },
});

/** `commission` is a percentage, 0 to 100. */
const old = (votes: typeof landedVotes) =>
  struct({ ...node, commission: u8, votes, ...rootAndVoters, priorVoters, ...tail });

/** In tag order, starting with tag 1. */
const layouts = {
  V1_14_11: { size: VOTE_STATE_1_14_11_BYTES, layout: old(oldVotes) },
  V3: { size: VOTE_STATE_BYTES, layout: old(landedVotes) },
  V4: {
    size: VOTE_STATE_BYTES,
    layout: struct({
      ...{ ...node, inflationRewardsCollector: pubkey, blockRevenueCollector: pubkey },
      /** 0 to 10,000. */
      ...{ inflationRewardsCommissionBps: u16, blockRevenueCommissionBps: u16 },
      ...{ pendingDelegatorRewards: u64, blsPublicKey: option(bytes(BLS_KEY_BYTES)) },
      ...{ votes: landedVotes, ...rootAndVoters, ...tail },
    }),
  },
};

/** Source: solana-vote-interface, `VoteStateVersions`. */
export type VoteState = {
  [V in keyof typeof layouts]: Readonly<{ version: V }> & ReturnType<(typeof layouts)[V]['layout']['read']>;
}[keyof typeof layouts];

const versions = Object.keys(layouts) as VoteState['version'][];
const layoutOf = (version: VoteState['version']) => layouts[version].layout as unknown as Codec<object>;

/** @returns null if the data is invalid, or the account is uninitialized or of an unsupported version. */
export const decodeVoteState = (data: Uint8Array): VoteState | null =>
  readOrNull(data, (reader) => {
    const version = versions[reader.u32() - 1];
    return version === undefined ? null : ({ version, ...layoutOf(version).read(reader) } as VoteState);
  });

export function encodeVoteState(state: VoteState): Uint8Array {
  const { size } = layouts[state.version];
  const writer = new ByteWriter(size).u32(versions.indexOf(state.version) + 1);
  layoutOf(state.version).write(writer, state);
  return writer.zeros(Math.max(0, size - writer.length)).finish();
}

export const NO_PRIOR_VOTERS: ReturnType<typeof priorVoters.read> = {
  entries: Array.from({ length: PRIOR_VOTERS }, () => ({
    voter: addressFromBytes(new Uint8Array(32)),
    fromEpoch: 0n,
    untilEpoch: 0n,
  })),
  index: 31n,
  isEmpty: true,
};
