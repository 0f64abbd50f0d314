import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  type ContextConfig,
  configObject,
  contextOf,
  positional,
  readAddress,
  readSignature,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readString, readUsize } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { memoOf } from '../../../../src/solana/transaction/memo.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { AddressSignature, LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { filterTransactionNotFound } from './history-errors.ts';

const SIGNATURES_MAX = 1_000;

type GetSignaturesForAddressParams = Readonly<{
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

/** @throws RpcError -32020 when `before` or `until` is unknown or not confirmed enough. */
function requireKnown(node: LocalNode, signature: Signature | null, highestSlot: Slot): void {
  if (signature === null) return;
  const location = node.history.locate(signature);
  if (location === null || location.slot > highestSlot) throw filterTransactionNotFound(signature);
}

function listSignatures(node: LocalNode, params: GetSignaturesForAddressParams): AddressSignature[] {
  const { address, limit, before, until, config } = params;
  const highestSlot = bankFor(node, config).slot;
  requireKnown(node, before, highestSlot);
  requireKnown(node, until, highestSlot);
  return node.history.signaturesForAddress(address, {
    limit,
    highestSlot,
    ...(before === null ? {} : { before }),
    ...(until === null ? {} : { until }),
  });
}

/** Newest first. */
export function getSignaturesForAddress(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetSignaturesForAddress(params);
  requireConfirmed(parsed.config.commitment);
  const finalized = node.bank('finalized').slot;
  // Caches the last block: adjacent entries often share one, and reading it may access the disk.
  let block: Block | null = null;
  return listSignatures(node, parsed).map(({ signature, slot, index }) => {
    if (block?.slot !== slot) block = node.history.block(slot);
    const executed = block?.transactions[index];
    return {
      blockTime: block?.blockTime ?? null,
      confirmationStatus: slot <= finalized ? 'finalized' : 'confirmed',
      err: executed?.meta.err ?? null,
      memo: executed === undefined ? null : memoOf(executed.transaction.message),
      signature,
      slot,
      transactionIndex: index,
    };
  });
}
