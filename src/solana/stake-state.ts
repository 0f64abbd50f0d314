import { accountCodec, type Codec, f64, InvalidEncoding, i64, pubkey, struct, u8, u64 } from './codec.ts';

export const STAKE_STATE_BYTES = 200;

/** Source: solana-stake-interface, `state::Meta`. */
const meta = struct({
  rentExemptReserve: u64,
  authorized: struct({ staker: pubkey, withdrawer: pubkey }),
  lockup: struct({ unixTimestamp: i64, epoch: u64, custodian: pubkey }),
});
export type StakeMeta = ReturnType<typeof meta.read>;

/** Source: solana-stake-interface, `state::Stake`. */
const stake = struct({
  delegation: struct({
    ...{ voter: pubkey, stake: u64, activationEpoch: u64 },
    /** u64::MAX unless deactivated. */
    deactivationEpoch: u64,
    /** No longer used: features now set the rate. Usually 0.25. */
    warmupCooldownRate: f64,
  }),
  creditsObserved: u64,
});
export type Stake = ReturnType<typeof stake.read>;

/** Source: solana-stake-interface, `StakeStateV2`. */
export type StakeState =
  | Readonly<{ type: 'uninitialized' }>
  | Readonly<{ type: 'initialized'; meta: StakeMeta }>
  | Readonly<{ type: 'delegated'; meta: StakeMeta; stake: Stake; flags: number }>
  | Readonly<{ type: 'rewardsPool' }>;

const layouts = {
  uninitialized: struct({}),
  initialized: struct({ meta }),
  delegated: struct({ meta, stake, flags: u8 }),
  rewardsPool: struct({}),
};
const types = Object.keys(layouts) as StakeState['type'][];
const layoutOf = (type: StakeState['type']) => layouts[type] as Codec<object>;

export const { encode: encodeStakeState, decode: decodeStakeState } = accountCodec<StakeState>(
  STAKE_STATE_BYTES,
  {
    read: (reader) => {
      const type = types[reader.u32()];
      if (type === undefined) throw new InvalidEncoding('unknown stake state');
      return { type, ...layoutOf(type).read(reader) } as StakeState;
    },
    write: (writer, state) => {
      writer.u32(types.indexOf(state.type));
      layoutOf(state.type).write(writer, state);
    },
  },
);
