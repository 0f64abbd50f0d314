import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Lamports } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { configObject, lenientCommitment, positional } from './parameters.ts';
import { member, readBoolean } from './serde.ts';

export type GetSupplyParams = Readonly<{ commitment: Commitment; listAccounts: boolean }>;
/** Inside a context; all in lamports. */
export type GetSupplyResult = Readonly<{
  circulating: Lamports;
  nonCirculating: Lamports;
  nonCirculatingAccounts: readonly Address[];
  total: Lamports;
}>;

/** `{commitment, excludeNonCirculatingAccountsList}`. */
export function parseGetSupply(params: JsonValue | undefined): GetSupplyParams {
  const config = configObject(positional(params, 0, 1)[0], 'RpcSupplyConfig');
  const exclude = member(config, 'excludeNonCirculatingAccountsList');
  return {
    commitment: lenientCommitment(config),
    listAccounts: exclude === undefined ? true : !readBoolean(exclude),
  };
}
