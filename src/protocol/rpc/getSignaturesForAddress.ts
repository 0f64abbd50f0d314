import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Signature } from '../../solana/signature.ts';
import { invalidParams } from '../rpc-error.ts';
import {
  at,
  type ContextConfig,
  configObject,
  contextOf,
  positional,
  readAddress,
  readSignature,
} from './parameters.ts';
import { member, optional, readString, readUsize } from './serde.ts';

export const SIGNATURES_MAX = 1_000;

export type GetSignaturesForAddressParams = Readonly<{
  address: Address;
  before: Signature | null;
  until: Signature | null;
  /** 1 … 1000. */
  limit: number;
  config: ContextConfig;
}>;

/**
 * `address, {limit, before, until, commitment, minContextSlot}`.
 * @throws RpcError -32602 "Invalid limit; max 1000" for 0 as well.
 */
export function parseGetSignaturesForAddress(params: JsonValue | undefined): GetSignaturesForAddressParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = configObject(list[1], 'RpcSignaturesForAddressConfig');
  const before = optional(member(config, 'before'), readString);
  const limit = optional(member(config, 'limit'), readUsize) ?? BigInt(SIGNATURES_MAX);
  const context = contextOf(config);
  const until = optional(member(config, 'until'), readString);
  const address = readAddress(text);
  const cursors = {
    before: before === null ? null : readSignature(before),
    until: until === null ? null : readSignature(until),
  };
  if (limit === 0n || limit > SIGNATURES_MAX) throw invalidParams(`Invalid limit; max ${SIGNATURES_MAX}`);
  return { address, ...cursors, limit: Number(limit), config: context };
}
