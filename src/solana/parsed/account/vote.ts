import type { Address } from '../../address.ts';
import { encodeBase58 } from '../../base58.ts';
import { decodeVoteState, type VoteState } from '../../vote-state.ts';
import type { Members } from '../wire-order.ts';
import type { AccountParts } from './parsed-account.ts';

const BASIS_POINTS_PER_PERCENT = 100;
const ALL_BASIS_POINTS = 10_000;
const U8_MAX = 255;

/** Converts older states to version 4. */
function asV4(state: VoteState, address: Address): Extract<VoteState, { version: 'V4' }> {
  if (state.version === 'V4') return state;
  return {
    ...state,
    version: 'V4',
    inflationRewardsCollector: address,
    blockRevenueCollector: state.node,
    inflationRewardsCommissionBps: state.commission * BASIS_POINTS_PER_PERCENT,
    blockRevenueCommissionBps: ALL_BASIS_POINTS,
    pendingDelegatorRewards: 0n,
    blsPublicKey: null,
  };
}

/** Sorted by epoch. If an epoch occurs twice, the last entry wins, as in a map. */
function authorizedVoters(state: VoteState): Members[] {
  const byEpoch = new Map(state.authorizedVoters.map(({ epoch, voter }) => [epoch, voter]));
  return [...byEpoch]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([epoch, voter]) => ({ epoch, authorizedVoter: voter }));
}

/** Like Agave 4.2: shows all versions as V4 and rounds the commission up. Source: account-decoder/src/parse_vote.rs */
export function parseVote(data: Uint8Array, address: Address): AccountParts | null {
  const decoded = decodeVoteState(data);
  if (decoded === null) return null;
  const state = asV4(decoded, address);
  const { blsPublicKey, inflationRewardsCommissionBps } = state;
  const info: Members = {
    blockRevenueCollector: state.blockRevenueCollector,
    blockRevenueCommissionBps: state.blockRevenueCommissionBps,
    blsPubkeyCompressed: blsPublicKey === null ? null : encodeBase58(blsPublicKey),
    commission: Math.min(Math.ceil(inflationRewardsCommissionBps / BASIS_POINTS_PER_PERCENT), U8_MAX),
    inflationRewardsCollector: state.inflationRewardsCollector,
    inflationRewardsCommissionBps,
    pendingDelegatorRewards: String(state.pendingDelegatorRewards),
    authorizedVoters: authorizedVoters(state),
    authorizedWithdrawer: state.authorizedWithdrawer,
    epochCredits: state.epochCredits.map(({ epoch, credits, previousCredits }) => ({
      epoch,
      credits: String(credits),
      previousCredits: String(previousCredits),
    })),
    lastTimestamp: state.lastTimestamp,
    nodePubkey: state.node,
    priorVoters: [],
    rootSlot: state.rootSlot,
    votes: state.votes,
  };
  return { type: 'vote', info };
}
