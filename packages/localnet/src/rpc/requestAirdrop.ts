import type { JsonValue } from '../../../../src/base/json.ts';
import {
  parseRequestAirdrop,
  type RequestAirdropResult,
} from '../../../../src/protocol/rpc/requestAirdrop.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';
import { queueFull, requireHealthy } from './getHealth.ts';

/**
 * With an unknown or expired blockhash, returns the signature of a transaction that never lands, as in
 * Agave.
 * @throws RpcError -32603 when the faucet lacks funds; Agave gives no details either.
 */
export async function requestAirdrop(
  node: LocalNode,
  params: JsonValue | undefined,
): Promise<RequestAirdropResult> {
  const { address, lamports, recentBlockhash } = parseRequestAirdrop(params);
  requireHealthy(node);
  const signature = await node.airdrop(address, lamports, recentBlockhash ?? undefined);
  if (signature === 'queue full') throw queueFull();
  if (signature === 'insufficient') throw new RpcError(-32603, 'Internal error');
  return signature;
}
