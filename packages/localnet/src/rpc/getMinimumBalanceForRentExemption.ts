import type { JsonValue } from '../../../../src/base/json.ts';
import { at, positional, readStrictCommitment } from '../../../../src/protocol/rpc/parameters.ts';
import { readUsize } from '../../../../src/protocol/rpc/serde.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Lamports } from '../../../../src/solana/units.ts';
import { rentExemptMinimum } from '../bank/sysvar-accounts.ts';
import type { LocalNode } from '../node.ts';

/** Maximum data size of an account. Source: solana-system-interface `MAX_PERMITTED_DATA_LENGTH`. */
const ACCOUNT_DATA_MAX_BYTES = 10 * 1024 * 1024;

/**
 * `dataLen, {commitment}`; the config is strict.
 * @throws RpcError -32600 above the maximum account size.
 */
export function parseGetMinimumBalanceForRentExemption(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const dataLength = at(list, 0, readUsize);
  const commitment = readStrictCommitment(list[1]);
  if (dataLength > BigInt(ACCOUNT_DATA_MAX_BYTES)) throw new RpcError(-32600, 'Invalid request');
  return { dataLength: Number(dataLength), commitment };
}

export const getMinimumBalanceForRentExemption = (
  _node: LocalNode,
  params: JsonValue | undefined,
): Lamports => rentExemptMinimum(parseGetMinimumBalanceForRentExemption(params).dataLength);
