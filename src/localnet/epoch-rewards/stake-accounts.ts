import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { programs, sysvars } from '../../solana/programs.ts';
import { type StakeHistoryLookup, stakeActivation } from '../../solana/stake-activation.ts';
import { decodeStakeState, type StakeState } from '../../solana/stake-state.ts';
import { decodeStakeHistory, type StakeHistoryEntry } from '../../solana/sysvars.ts';
import { type Epoch, epoch as epochOf } from '../../solana/units.ts';
import { decodeVoteState, type VoteState } from '../../solana/vote-state.ts';
import type { Bank } from '../node.ts';

/** A state as far as stakes are concerned. */
export type StakesView = Pick<Bank, 'account' | 'accountsByOwner'>;

export type Delegated = Extract<StakeState, { type: 'delegated' }>;

/** A delegated stake account. */
export type StakeAccount = Readonly<{ address: Address; account: Account; state: Delegated }>;

/** Every delegated stake account; a scan of the stake program's. */
export function* stakeAccounts(view: StakesView): Generator<StakeAccount> {
  for (const [address, account] of view.accountsByOwner(programs.stake)) {
    const state = decodeStakeState(account.data);
    if (state?.type === 'delegated') yield { address, account, state };
  }
}

/** The state of a vote account; null when it is none. */
export function voteStateAt(view: StakesView, address: Address): VoteState | null {
  const account = view.account(address);
  return account?.owner === programs.vote ? decodeVoteState(account.data) : null;
}

/** What a validator keeps, in hundredths of a per cent. */
export const commissionBps = (state: VoteState): number =>
  state.version === 'V4' ? state.inflationRewardsCommissionBps : state.commission * 100;

/** The stake of past epochs, newest first. */
export function stakeHistoryOf(view: StakesView): StakeHistoryEntry[] {
  const account = view.account(sysvars.stakeHistory);
  return (account && decodeStakeHistory(account.data)) ?? [];
}

/** All stake of an epoch that is over. Source: agave runtime/src/stakes.rs, `activate_epoch`. */
export function stakeOfEpoch(
  stakes: Iterable<StakeAccount>,
  epoch: Epoch,
  history: StakeHistoryLookup,
): StakeHistoryEntry {
  const sum = { effective: 0n, activating: 0n, deactivating: 0n };
  for (const { state } of stakes) {
    const part = stakeActivation(state.stake.delegation, epoch, history);
    sum.effective += part.effective;
    sum.activating += part.activating;
    sum.deactivating += part.deactivating;
  }
  return { epoch: epochOf(epoch), ...sum };
}
