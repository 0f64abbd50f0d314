import type { Address } from '../ledger/address.ts';
import { programs } from '../ledger/programs.ts';
import { decodeStakeState, type Stake } from '../ledger/stake-state.ts';
import { type Epoch, type Lamports, lamports, U64_MAX } from '../ledger/units.ts';
import type { Bank } from './node.ts';

/**
 * Whether a delegation counts in an epoch. The embedded ledger warms nothing up or down: a delegation counts
 * in full from the epoch after its activation, and no more from the epoch after its deactivation.
 */
function counts({ delegation }: Stake, epoch: Epoch): boolean {
  const { activationEpoch, deactivationEpoch } = delegation;
  const isBootstrap = activationEpoch === U64_MAX;
  if (!isBootstrap && activationEpoch === deactivationEpoch) return false;
  return (isBootstrap || epoch > activationEpoch) && epoch <= deactivationEpoch;
}

/** Lamports that count for each vote account in the bank's epoch; a scan of the stake accounts. */
export function activeStakes(bank: Bank): ReadonlyMap<Address, Lamports> {
  const stakes = new Map<Address, Lamports>();
  for (const [, account] of bank.accountsByOwner(programs.stake)) {
    const state = decodeStakeState(account.data);
    if (state?.type !== 'delegated' || !counts(state.stake, bank.epoch)) continue;
    const { voter, stake } = state.stake.delegation;
    stakes.set(voter, lamports((stakes.get(voter) ?? 0n) + stake));
  }
  return stakes;
}
