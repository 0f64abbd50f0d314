import type { Address } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import { decodeStakeState, type StakeMeta } from '../../solana/stake-state.ts';
import type { Bank } from '../node.ts';
import { nonCirculatingAccounts, withdrawAuthorities } from './non-circulating-accounts.ts';

/** What does not circulate: the accounts, and their lamports together. */
export type NonCirculatingSupply = Readonly<{ accounts: ReadonlySet<Address>; lamports: bigint }>;

/** Source: solana-stake-interface `Lockup::is_in_force`. */
const isLocked = ({ lockup }: StakeMeta, { clock }: Bank): boolean =>
  lockup.unixTimestamp > clock.unixTimestamp || lockup.epoch > clock.epoch;

/**
 * The accounts that real nodes name, on every chain, and the stakes that are locked up or in certain hands.
 * @see agave runtime/src/non_circulating_supply.rs
 */
export function nonCirculatingSupply(bank: Bank): NonCirculatingSupply {
  const accounts = new Set(nonCirculatingAccounts);
  for (const [address, { data }] of bank.accountsByOwner(programs.stake)) {
    const state = decodeStakeState(data);
    if (state === null || !('meta' in state)) continue;
    const isHeld = withdrawAuthorities.has(state.meta.authorized.withdrawer);
    if (isHeld || isLocked(state.meta, bank)) accounts.add(address);
  }
  let lamports = 0n;
  for (const address of accounts) lamports += bank.account(address)?.lamports ?? 0n;
  return { accounts, lamports };
}
