import type { JsonValue } from '../../base/json.ts';
import type { Lamports } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { RpcError } from '../rpc-error.ts';
import { at, positional, readStrictCommitment } from './parameters.ts';
import { readUsize } from './serde.ts';

/** The largest data an account can have. Source: solana-system-interface `MAX_PERMITTED_DATA_LENGTH`. */
export const ACCOUNT_DATA_MAX_BYTES = 10 * 1024 * 1024;

export type GetMinimumBalanceForRentExemptionParams = Readonly<{
  dataLength: number;
  commitment: Commitment;
}>;
export type GetMinimumBalanceForRentExemptionResult = Lamports;

/**
 * `dataLen, {commitment}`; the config is strict.
 * @throws RpcError -32600 when no account can be so long.
 */
export function parseGetMinimumBalanceForRentExemption(
  params: JsonValue | undefined,
): GetMinimumBalanceForRentExemptionParams {
  const list = positional(params, 1, 2);
  const dataLength = at(list, 0, readUsize);
  const commitment = readStrictCommitment(list[1]);
  if (dataLength > BigInt(ACCOUNT_DATA_MAX_BYTES)) throw new RpcError(-32600, 'Invalid request');
  return { dataLength: Number(dataLength), commitment };
}
