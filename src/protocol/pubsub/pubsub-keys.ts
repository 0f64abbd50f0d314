import { type Address, parseAddress } from '../../solana/address.ts';
import { parseSignature, type Signature } from '../../solana/signature.ts';
import { invalidParams } from '../rpc-error.ts';

/** PubSub has words of its own for a bad key. Source: Agave rpc/src/rpc_pubsub.rs `param`. */
const invalidKey = (thing: string) => invalidParams(`Invalid Request: Invalid ${thing} provided`);

/**
 * An address among a subscription's parameters.
 * @param thing - what the message calls it.
 * @throws RpcError -32602 "Invalid Request: Invalid <thing> provided".
 */
export function readSubscribedAddress(text: string, thing = 'pubkey'): Address {
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw invalidKey(thing);
  return parsed.address;
}

/** @throws RpcError -32602 "Invalid Request: Invalid signature provided". */
export function readSubscribedSignature(text: string): Signature {
  const parsed = parseSignature(text);
  if ('fault' in parsed) throw invalidKey('signature');
  return parsed.signature;
}
