import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Address } from '../../ledger/address.ts';
import { programs } from '../../ledger/programs.ts';
import { decodeStakeState } from '../../ledger/stake-state.ts';
import { lamports } from '../../ledger/units.ts';
import { type GetSupplyResult, parseGetSupply } from '../../protocol/rpc/getSupply.ts';
import type { Bank, LocalNode } from '../node.ts';
import { withContext } from './context.ts';

/** Whether a stake account may not be emptied yet. Source: solana-stake-interface `Lockup::is_in_force`. */
function isLocked(data: Uint8Array, { clock }: Bank): boolean {
  const state = decodeStakeState(data);
  if (state === null || !('meta' in state)) return false;
  const { unixTimestamp, epoch } = state.meta.lockup;
  return unixTimestamp > clock.unixTimestamp || epoch > clock.epoch;
}

/** Lamports in existence. Of Agave's rules for what does not circulate, the lockup of stakes is the local one. */
export function getSupply(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { commitment, listAccounts } = parseGetSupply(params);
  const bank = node.bank(commitment);
  const locked: Address[] = [];
  let nonCirculating = 0n;
  for (const [address, account] of bank.accountsByOwner(programs.stake)) {
    if (!isLocked(account.data, bank)) continue;
    locked.push(address);
    nonCirculating += account.lamports;
  }
  const value: GetSupplyResult = {
    circulating: lamports(bank.capitalization - nonCirculating),
    nonCirculating: lamports(nonCirculating),
    nonCirculatingAccounts: listAccounts ? locked : [],
    total: bank.capitalization,
  };
  return withContext(bank, value);
}
