import type { Address } from '../../solana/address.ts';
import { stakeActivation, stakeHistoryLookup } from '../../solana/stake-activation.ts';
import { type Lamports, lamports } from '../../solana/units.ts';
import { type StakesView, stakeAccounts, stakeHistoryOf } from '../epoch-rewards/stake-accounts.ts';
import type { Bank } from '../node.ts';

/** Lamports that count for each vote account in the bank's epoch; a scan of the stake accounts. */
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
