import { type ByteReader, ByteWriter, readOrNull } from '../base/bytes.ts';
import { type Address, addressBytes, addressFromBytes } from './address.ts';

export const VOTE_STATE_BYTES = 3762;
const VOTE_STATE_1_14_11_BYTES = 3731;
const PRIOR_VOTERS = 32;
const BLS_KEY_BYTES = 48;

/** `latency` in slots, 0 when not recorded. */
type LandedVote = Readonly<{ latency: number; slot: bigint; confirmationCount: number }>;

/** Ring of the last 32 voters; `index` is the newest. Source: solana-vote-interface, `CircBuf`. */
type PriorVoters = Readonly<{
  entries: readonly Readonly<{ voter: Address; fromEpoch: bigint; untilEpoch: bigint }>[];
  index: bigint;
  isEmpty: boolean;
}>;

type SharedFields = {
  node: Address;
  authorizedWithdrawer: Address;
  votes: readonly LandedVote[];
  rootSlot: bigint | null;
  /** By epoch, ascending. */
  authorizedVoters: readonly Readonly<{ epoch: bigint; voter: Address }>[];
  epochCredits: readonly Readonly<{ epoch: bigint; credits: bigint; previousCredits: bigint }>[];
  /** `timestamp` in Unix seconds. */
  lastTimestamp: Readonly<{ slot: bigint; timestamp: bigint }>;
};

type OldFields = {
  version: 'V1_14_11' | 'V3';
  /** Percent, 0 to 100. */
  commission: number;
  priorVoters: PriorVoters;
};

type NewFields = {
  version: 'V4';
  inflationRewardsCollector: Address;
  blockRevenueCollector: Address;
  /** Basis points, 0 to 10,000. */
  inflationRewardsCommissionBps: number;
  blockRevenueCommissionBps: number;
  pendingDelegatorRewards: bigint;
  /** 48 bytes. */
  blsPublicKey: Uint8Array | null;
};

/** Source: solana-vote-interface, `VoteStateVersions`. */
export type VoteState = Readonly<SharedFields & (OldFields | NewFields)>;

const TAGS = { V1_14_11: 1, V3: 2, V4: 3 } as const;

/** @returns null when the data is no vote state, uninitialized or too old. */
export function decodeVoteState(data: Uint8Array): VoteState | null {
  return readOrNull(data, (reader) => {
    switch (reader.u32()) {
      case TAGS.V1_14_11:
        return readOld(reader, 'V1_14_11');
      case TAGS.V3:
        return readOld(reader, 'V3');
      case TAGS.V4:
        return readNew(reader);
      default:
        return null;
    }
  });
}

/** null for a byte other than 0 or 1. */
const readFlag = (reader: ByteReader): boolean | null => {
  const byte = reader.u8();
  return byte > 1 ? null : byte === 1;
};

const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(32));

function readOld(reader: ByteReader, version: OldFields['version']): VoteState | null {
  const node = readAddress(reader);
  const authorizedWithdrawer = readAddress(reader);
  const commission = reader.u8();
  const votes = readVotes(reader, version === 'V3');
  const rootSlot = readRootSlot(reader);
  const authorizedVoters = readAuthorizedVoters(reader);
  const priorVoters = readPriorVoters(reader);
  if (rootSlot === undefined) return null;
  const head = { version, node, authorizedWithdrawer, commission, votes, rootSlot };
  return { ...head, authorizedVoters, priorVoters, ...readTail(reader) };
}

function readNew(reader: ByteReader): VoteState | null {
  const head = {
    version: 'V4' as const,
    node: readAddress(reader),
    authorizedWithdrawer: readAddress(reader),
    inflationRewardsCollector: readAddress(reader),
    blockRevenueCollector: readAddress(reader),
    inflationRewardsCommissionBps: reader.u16(),
    blockRevenueCommissionBps: reader.u16(),
    pendingDelegatorRewards: reader.u64(),
  };
  const hasKey = readFlag(reader);
  if (hasKey === null) return null;
  const blsPublicKey = hasKey ? reader.bytes(BLS_KEY_BYTES) : null;
  const votes = readVotes(reader, true);
  const rootSlot = readRootSlot(reader);
  if (rootSlot === undefined) return null;
  const authorizedVoters = readAuthorizedVoters(reader);
  return { ...head, blsPublicKey, votes, rootSlot, authorizedVoters, ...readTail(reader) };
}

/** A false count runs out of bytes, since no item is empty. */
function readList<T>(reader: ByteReader, read: () => T): T[] {
  const count = reader.u64();
  const items: T[] = [];
  for (let i = 0n; i < count; i++) items.push(read());
  return items;
}

function readVotes(reader: ByteReader, hasLatency: boolean): LandedVote[] {
  return readList(reader, () => ({
    latency: hasLatency ? reader.u8() : 0,
    slot: reader.u64(),
    confirmationCount: reader.u32(),
  }));
}

/** undefined for an invalid tag. */
function readRootSlot(reader: ByteReader): bigint | null | undefined {
  const present = readFlag(reader);
  if (present === null) return undefined;
  return present ? reader.u64() : null;
}

function readAuthorizedVoters(reader: ByteReader): { epoch: bigint; voter: Address }[] {
  return readList(reader, () => ({ epoch: reader.u64(), voter: readAddress(reader) }));
}

function readPriorVoters(reader: ByteReader): PriorVoters {
  const entries = Array.from({ length: PRIOR_VOTERS }, () => ({
    voter: readAddress(reader),
    fromEpoch: reader.u64(),
    untilEpoch: reader.u64(),
  }));
  return { entries, index: reader.u64(), isEmpty: reader.bool() };
}

function readTail(reader: ByteReader): Pick<SharedFields, 'epochCredits' | 'lastTimestamp'> {
  return {
    epochCredits: readList(reader, () => ({
      epoch: reader.u64(),
      credits: reader.u64(),
      previousCredits: reader.u64(),
    })),
    lastTimestamp: { slot: reader.u64(), timestamp: reader.i64() },
  };
}

/** Full-size account, 3762 bytes (3731 for V1_14_11); inverse of `decodeVoteState`. */
export function encodeVoteState(state: VoteState): Uint8Array {
  const size = state.version === 'V1_14_11' ? VOTE_STATE_1_14_11_BYTES : VOTE_STATE_BYTES;
  const writer = new ByteWriter(size).u32(TAGS[state.version]);
  writer.bytes(addressBytes(state.node)).bytes(addressBytes(state.authorizedWithdrawer));
  if (state.version === 'V4') writeNewFields(writer, state);
  else writer.u8(state.commission);
  writeVotes(writer, state);
  writer.bool(state.rootSlot !== null);
  if (state.rootSlot !== null) writer.u64(state.rootSlot);
  writer.u64(BigInt(state.authorizedVoters.length));
  for (const { epoch, voter } of state.authorizedVoters) writer.u64(epoch).bytes(addressBytes(voter));
  if (state.version !== 'V4') writePriorVoters(writer, state.priorVoters);
  writer.u64(BigInt(state.epochCredits.length));
  for (const { epoch, credits, previousCredits } of state.epochCredits) {
    writer.u64(epoch).u64(credits).u64(previousCredits);
  }
  writer.u64(state.lastTimestamp.slot).i64(state.lastTimestamp.timestamp);
  return writer.zeros(Math.max(0, size - writer.length)).finish();
}

function writeNewFields(writer: ByteWriter, state: NewFields): void {
  writer
    .bytes(addressBytes(state.inflationRewardsCollector))
    .bytes(addressBytes(state.blockRevenueCollector))
    .u16(state.inflationRewardsCommissionBps)
    .u16(state.blockRevenueCommissionBps)
    .u64(state.pendingDelegatorRewards)
    .bool(state.blsPublicKey !== null);
  if (state.blsPublicKey !== null) writer.bytes(state.blsPublicKey);
}

function writeVotes(writer: ByteWriter, state: VoteState): void {
  writer.u64(BigInt(state.votes.length));
  for (const { latency, slot, confirmationCount } of state.votes) {
    if (state.version !== 'V1_14_11') writer.u8(latency);
    writer.u64(slot).u32(confirmationCount);
  }
}

function writePriorVoters(writer: ByteWriter, prior: PriorVoters): void {
  for (const { voter, fromEpoch, untilEpoch } of prior.entries) {
    writer.bytes(addressBytes(voter)).u64(fromEpoch).u64(untilEpoch);
  }
  writer.u64(prior.index).bool(prior.isEmpty);
}

/** Ring without voter changes. */
export const NO_PRIOR_VOTERS: PriorVoters = {
  entries: Array.from({ length: PRIOR_VOTERS }, () => ({
    voter: addressFromBytes(new Uint8Array(32)),
    fromEpoch: 0n,
    untilEpoch: 0n,
  })),
  index: 31n,
  isEmpty: true,
};
