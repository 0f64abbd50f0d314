import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import type { Signature } from '../../solana/signature.ts';
import { type Lamports, lamports } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { at, configObject, lenientCommitment, positional, readAddress, readBlockhash } from './parameters.ts';
import { member, optional, readString, readU64 } from './serde.ts';

export type RequestAirdropParams = Readonly<{
  address: Address;
  lamports: Lamports;
  recentBlockhash: Blockhash | null;
  commitment: Commitment;
}>;
export type RequestAirdropResult = Signature;

/** `address, lamports, {recentBlockhash, commitment}`. */
export function parseRequestAirdrop(params: JsonValue | undefined): RequestAirdropParams {
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
