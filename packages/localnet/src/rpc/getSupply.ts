import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { type GetSupplyResult, parseGetSupply } from '../../../../src/protocol/rpc/getSupply.ts';
import { lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { nonCirculatingSupply } from './non-circulating-accounts.ts';

export function getSupply(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { commitment, listAccounts } = parseGetSupply(params);
  const bank = node.bank(commitment);
  const held = nonCirculatingSupply(bank);
  const value: GetSupplyResult = {
    circulating: lamports(bank.capitalization - held.lamports),
    nonCirculating: lamports(held.lamports),
    nonCirculatingAccounts: listAccounts ? [...held.accounts] : [],
    total: bank.capitalization,
  };
  return withContext(bank, value);
}
