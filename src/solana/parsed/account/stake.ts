import { decodeStakeState, type Stake, type StakeMeta } from '../../stake-state.ts';
import type { Members } from '../wire-order.ts';
import type { AccountParts } from './parsed-account.ts';

const meta = ({ rentExemptReserve, authorized, lockup }: StakeMeta): Members => ({
  rentExemptReserve: String(rentExemptReserve),
  authorized,
  lockup,
});

/** The warm-up rate is not shown since Agave 4.1. */
const stake = ({ delegation, creditsObserved }: Stake): Members => ({
  delegation: {
    voter: delegation.voter,
    stake: String(delegation.stake),
    activationEpoch: String(delegation.activationEpoch),
    deactivationEpoch: String(delegation.deactivationEpoch),
  },
  creditsObserved,
});

/** Source: account-decoder/src/parse_stake.rs */
export function parseStake(data: Uint8Array): AccountParts | null {
  const state = decodeStakeState(data);
  if (state === null) return null;
  if (state.type === 'uninitialized' || state.type === 'rewardsPool') return { type: state.type };
  const shown = state.type === 'delegated' ? stake(state.stake) : null;
  return { type: state.type, info: { meta: meta(state.meta), stake: shown } };
}
