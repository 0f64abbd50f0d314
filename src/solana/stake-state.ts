import { type ByteReader, ByteWriter, readOrNull } from '../base/bytes.ts';
import { type Address, addressBytes, addressFromBytes } from './address.ts';

export const STAKE_STATE_BYTES = 200;

/**
 * Epochs, lamports and credits are u64, the timestamp is i64. Source: solana-stake-interface, `state::Meta`.
 */
export type StakeMeta = Readonly<{
  rentExemptReserve: bigint;
  authorized: Readonly<{ staker: Address; withdrawer: Address }>;
  lockup: Readonly<{ unixTimestamp: bigint; epoch: bigint; custodian: Address }>;
}>;

/** Source: solana-stake-interface, `state::Stake`. */
export type Stake = Readonly<{
  delegation: Readonly<{
    voter: Address;
    stake: bigint;
    activationEpoch: bigint;
    /** 18446744073709551615 unless deactivated. */
    deactivationEpoch: bigint;
    /** Unused since rates are set by features; mostly 0.25. */
    warmupCooldownRate: number;
  }>;
  creditsObserved: bigint;
}>;

/** Source: solana-stake-interface, `StakeStateV2`. */
export type StakeState =
  | Readonly<{ type: 'uninitialized' }>
  | Readonly<{ type: 'initialized'; meta: StakeMeta }>
  | Readonly<{ type: 'delegated'; meta: StakeMeta; stake: Stake; flags: number }>
  | Readonly<{ type: 'rewardsPool' }>;

/** @returns null when the data is no stake state. */
export function decodeStakeState(data: Uint8Array): StakeState | null {
  return readOrNull<StakeState>(data, (reader) => {
    switch (reader.u32()) {
      case 0:
        return { type: 'uninitialized' };
      case 1:
        return { type: 'initialized', meta: readMeta(reader) };
      case 2:
        return { type: 'delegated', meta: readMeta(reader), stake: readStake(reader), flags: reader.u8() };
      case 3:
        return { type: 'rewardsPool' };
      default:
        return null;
    }
  });
}

const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(32));

function readMeta(reader: ByteReader): StakeMeta {
  return {
    rentExemptReserve: reader.u64(),
    authorized: { staker: readAddress(reader), withdrawer: readAddress(reader) },
    lockup: { unixTimestamp: reader.i64(), epoch: reader.u64(), custodian: readAddress(reader) },
  };
}

function readStake(reader: ByteReader): Stake {
  return {
    delegation: {
      voter: readAddress(reader),
      stake: reader.u64(),
      activationEpoch: reader.u64(),
      deactivationEpoch: reader.u64(),
      warmupCooldownRate: reader.f64(),
    },
    creditsObserved: reader.u64(),
  };
}

const TAGS = { uninitialized: 0, initialized: 1, delegated: 2, rewardsPool: 3 } as const;

/** 200 bytes; inverse of `decodeStakeState`. */
export function encodeStakeState(state: StakeState): Uint8Array {
  const writer = new ByteWriter(STAKE_STATE_BYTES).u32(TAGS[state.type]);
  if ('meta' in state) writeMeta(writer, state.meta);
  if ('stake' in state) {
    writeStake(writer, state.stake);
    writer.u8(state.flags);
  }
  return writer.zeros(STAKE_STATE_BYTES - writer.length).finish();
}

function writeMeta(writer: ByteWriter, meta: StakeMeta): void {
  writer
    .u64(meta.rentExemptReserve)
    .bytes(addressBytes(meta.authorized.staker))
    .bytes(addressBytes(meta.authorized.withdrawer))
    .i64(meta.lockup.unixTimestamp)
    .u64(meta.lockup.epoch)
    .bytes(addressBytes(meta.lockup.custodian));
}

function writeStake(writer: ByteWriter, stake: Stake): void {
  const { voter, stake: amount, activationEpoch, deactivationEpoch, warmupCooldownRate } = stake.delegation;
  writer
    .bytes(addressBytes(voter))
    .u64(amount)
    .u64(activationEpoch)
    .u64(deactivationEpoch)
    .f64(warmupCooldownRate)
    .u64(stake.creditsObserved);
}
