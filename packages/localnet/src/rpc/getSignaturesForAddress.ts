import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type GetSignaturesForAddressParams,
  parseGetSignaturesForAddress,
} from '../../../../src/protocol/rpc/getSignaturesForAddress.ts';
import { filterTransactionNotFound } from '../../../../src/protocol/rpc/history-errors.ts';
import { requireConfirmed } from '../../../../src/protocol/rpc/parameters.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { memoOf } from '../../../../src/solana/transaction/memo.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { AddressSignature, LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

/** @throws RpcError -32020 when `before` or `until` is unknown or not confirmed enough. */
function requireKnown(node: LocalNode, signature: Signature | null, highestSlot: Slot): void {
  if (signature === null) return;
  const place = node.history.locate(signature);
  if (place === null || place.slot > highestSlot) throw filterTransactionNotFound(signature);
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
  // Adjacent entries often share a block, and reading one may hit the disk.
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
