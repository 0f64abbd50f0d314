import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import type { Commitment } from '../../../../src/protocol/commitment.ts';
import {
  at,
  lenientCommitment,
  positional,
  readSignature,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import { type JsonObject, member, readString } from '../../../../src/protocol/rpc/serde.ts';
import {
  readEncoding,
  readEncodingConfig,
  readMaxVersion,
} from '../../../../src/protocol/rpc/transaction-encoding.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { TransactionEncoding } from '../../../../src/solana/encoding/encodings.ts';
import { encodeTransactionWithMeta } from '../../../../src/solana/encoding/ui-transaction.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { LocalNode } from '../node.ts';
import { unsupportedTransactionVersion } from './history-errors.ts';

type GetTransactionParams = Readonly<{
  signature: Signature;
  encoding: TransactionEncoding;
  commitment: Commitment;
  maxVersion: number | null;
}>;

const readConfig = (config: JsonObject): Omit<GetTransactionParams, 'signature'> => ({
  encoding: readEncoding(member(config, 'encoding')) ?? 'json',
  commitment: lenientCommitment(config),
  maxVersion: readMaxVersion(config),
});

/** `signature, encoding | {encoding, commitment, maxSupportedTransactionVersion}`. */
export function parseGetTransaction(params: JsonValue | undefined): GetTransactionParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readEncodingConfig(list[1], readConfig);
  return { signature: readSignature(text), ...config };
}

/** `maxVersion` null: legacy only. */
type FullView = Readonly<{ encoding: TransactionEncoding; maxVersion: number | null }>;

/**
 * Transaction at an index of a block; null if there is none.
 * @throws RpcError -32015 for an unsupported version.
 */
export function fullTransaction(
  block: Block,
  index: number,
  { encoding, maxVersion }: FullView,
): WritableJson {
  const executed = block.transactions[index];
  if (executed === undefined) return null;
  const encoded = encodeTransactionWithMeta(executed, encoding, maxVersion ?? undefined, 'full');
  if ('unsupportedVersion' in encoded) throw unsupportedTransactionVersion(encoded.unsupportedVersion);
  const { meta, transaction, version } = encoded.json as { readonly [name: string]: WritableJson };
  return {
    blockTime: block.blockTime,
    meta,
    slot: block.slot,
    transaction,
    transactionIndex: index,
    version,
  };
}

/** null when unknown or not confirmed enough. */
export function getTransaction(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetTransaction(params);
  requireConfirmed(parsed.commitment);
  const location = node.history.locate(parsed.signature);
  if (location === null || location.slot > node.bank(parsed.commitment).slot) return null;
  const block = node.history.block(location.slot);
  return block && fullTransaction(block, location.index, parsed);
}
