import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs, sysvars } from '../../../../src/solana/programs.ts';
import {
  type StakeHistoryLookup,
  stakeActivation,
  stakeHistoryLookup,
} from '../../../../src/solana/stake-activation.ts';
import { decodeStakeState, type StakeState } from '../../../../src/solana/stake-state.ts';
import { decodeStakeHistory, type StakeHistoryEntry } from '../../../../src/solana/sysvars.ts';
import { type Epoch, epoch as epochOf, type Lamports, lamports } from '../../../../src/solana/units.ts';
import { decodeVoteState, type VoteState } from '../../../../src/solana/vote-state.ts';
import type { Bank } from '../node.ts';

export type StakesView = Pick<Bank, 'account' | 'accountsByOwner'>;

export type Delegated = Extract<StakeState, { type: 'delegated' }>;

export type StakeAccount = Readonly<{ address: Address; account: Account; state: Delegated }>;

/** Finds the delegated stake accounts by a scan. */
export function* stakeAccounts(view: StakesView): Generator<StakeAccount> {
  for (const [address, account] of view.accountsByOwner(programs.stake)) {
    const state = decodeStakeState(account.data);
    if (state?.type === 'delegated') yield { address, account, state };
  }
}

/** null if the address has no vote account. */
export function voteStateAt(view: StakesView, address: Address): VoteState | null {
  const account = view.account(address);
  return account?.owner === programs.vote ? decodeVoteState(account.data) : null;
}

/** Basis points. */
export const commissionBps = (state: VoteState): number =>
  state.version === 'V4' ? state.inflationRewardsCommissionBps : state.commission * 100;

/** Newest first. */
export function stakeHistoryOf(view: StakesView): readonly StakeHistoryEntry[] {
  const account = view.account(sysvars.stakeHistory);
  return (account && decodeStakeHistory(account.data)) ?? [];
}

/** Total stake of a past epoch. Source: agave runtime/src/stakes.rs, `activate_epoch`. */
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

/** Effective stake in lamports per vote account, by a scan. */
export function activeStakes(bank: StakesView & Pick<Bank, 'epoch'>): ReadonlyMap<Address, Lamports> {
  const history = stakeHistoryLookup(stakeHistoryOf(bank));
  const stakes = new Map<Address, Lamports>();
  for (const { state } of stakeAccounts(bank)) {
    const { delegation } = state.stake;
    const { effective } = stakeActivation(delegation, bank.epoch, history);
    if (effective === 0n) continue;
    stakes.set(delegation.voter, lamports((stakes.get(delegation.voter) ?? 0n) + effective));
  }
  return stakes;
}
