import type { JsonValue } from '../../../../src/base/json.ts';
import {
  at,
  configObject,
  lenientCommitment,
  positional,
  readAddress,
  readBlockhash,
} from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readString, readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { queueFull, requireHealthy } from './getHealth.ts';

/** `address, lamports, {recentBlockhash, commitment}`. */
export function parseRequestAirdrop(params: JsonValue | undefined) {
  const list = positional(params, 2, 3);
  const text = at(list, 0, readString);
  const amount = lamports(at(list, 1, readU64));
  const config = configObject(list[2], 'RpcRequestAirdropConfig');
  const blockhash = optional(member(config, 'recentBlockhash'), readString);
  const address = readAddress(text);
  return {
    address,
    lamports: amount,
    recentBlockhash: blockhash === null ? null : readBlockhash(blockhash),
    commitment: lenientCommitment(config),
  };
}

/**
 * With an unknown or expired blockhash, returns the signature of a transaction that never lands, as in
 * Agave.
 * @throws RpcError -32603 when the faucet lacks funds; Agave gives no details either.
 */
export async function requestAirdrop(node: LocalNode, params: JsonValue | undefined): Promise<Signature> {
  const { address, lamports, recentBlockhash } = parseRequestAirdrop(params);
  requireHealthy(node);
  const signature = await node.airdrop(address, lamports, recentBlockhash ?? undefined);
  if (signature === 'queue full') throw queueFull();
  if (signature === 'insufficient') throw new RpcError(-32603, 'Internal error');
  return signature;
}
