import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { configObject, lenientCommitment, positional } from '../../../../src/protocol/rpc/parameters.ts';
import { member, readBoolean } from '../../../../src/protocol/rpc/serde.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { type Lamports, lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { nonCirculatingSupply } from './non-circulating-accounts.ts';

/** Inside a context; all in lamports. */
type GetSupplyResult = Readonly<{
  circulating: Lamports;
  nonCirculating: Lamports;
  nonCirculatingAccounts: readonly Address[];
  total: Lamports;
}>;

/** `{commitment, excludeNonCirculatingAccountsList}`. */
export function parseGetSupply(params: JsonValue | undefined) {
  const config = configObject(positional(params, 0, 1)[0], 'RpcSupplyConfig');
  const exclude = member(config, 'excludeNonCirculatingAccountsList');
  return {
    commitment: lenientCommitment(config),
    listAccounts: exclude === undefined ? true : !readBoolean(exclude),
  };
}

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
