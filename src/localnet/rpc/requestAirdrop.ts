import type { JsonValue } from '../../base/json.ts';
import { parseRequestAirdrop, type RequestAirdropResult } from '../../protocol/rpc/requestAirdrop.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';
import { queueFull, requireHealthy } from './health.ts';

/**
 * Sends lamports from the faucet. With a blockhash that is unknown or too old the answer is the signature of a
 * transaction that never lands, as from Agave, which does not look at it either.
 * @throws RpcError -32603 when the faucet has not that much; Agave says no more either.
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
