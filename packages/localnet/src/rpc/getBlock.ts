import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import type { Commitment } from '../../../../src/protocol/commitment.ts';
import {
  at,
  lenientCommitment,
  positional,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import {
  type JsonObject,
  member,
  optional,
  readBoolean,
  readU64,
  readVariant,
} from '../../../../src/protocol/rpc/serde.ts';
import {
  readEncoding,
  readEncodingConfig,
  readMaxVersion,
} from '../../../../src/protocol/rpc/transaction-encoding.ts';
import type { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Block } from '../../../../src/solana/block.ts';
import {
  type TransactionDetails,
  type TransactionEncoding,
  transactionDetails,
} from '../../../../src/solana/encoding/encodings.ts';
import { encodeBlock } from '../../../../src/solana/encoding/ui-block.ts';
import { type Slot, slot, slot as slotOf } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import {
  blockCleanedUp,
  blockNotAvailable,
  slotSkipped,
  unsupportedTransactionVersion,
} from './history-errors.ts';

type GetBlockParams = Readonly<{
  slot: Slot;
  encoding: TransactionEncoding;
  details: TransactionDetails;
  rewards: boolean;
  commitment: Commitment;
  maxVersion: number | null;
}>;

const readConfig = (config: JsonObject): Omit<GetBlockParams, 'slot'> => ({
  encoding: readEncoding(member(config, 'encoding')) ?? 'json',
  details:
    optional(member(config, 'transactionDetails'), (name) => readVariant(name, transactionDetails)) ?? 'full',
  rewards: optional(member(config, 'rewards'), readBoolean) ?? true,
  commitment: lenientCommitment(config),
  maxVersion: readMaxVersion(config),
});

/** `slot, encoding | {encoding, transactionDetails, rewards, commitment, maxSupportedTransactionVersion}`. */
export function parseGetBlock(params: JsonValue | undefined): GetBlockParams {
  const list = positional(params, 1, 2);
  return { slot: slot(at(list, 0, readU64)), ...readEncodingConfig(list[1], readConfig) };
}

export function missingBlock(node: LocalNode, slot: Slot): RpcError {
  const first = node.history.firstAvailableSlot;
  return slot < first ? blockCleanedUp(slot, first) : slotSkipped(slot);
}

/** Finds a finalized block or, with `confirmed`, a block up to the confirmed tip. */
function findBlock(node: LocalNode, { slot, commitment }: GetBlockParams): Block {
  const finalized = slot <= node.bank('finalized').slot;
  if (!finalized && (commitment === 'finalized' || slot > node.bank('confirmed').slot)) {
    throw blockNotAvailable(slot);
  }
  const block = node.history.block(slot);
  if (block === null) throw missingBlock(node, slot);
  return block;
}

/** Block 0 has a height and the genesis time. */
function withGenesisFacts(node: LocalNode, block: Block): Block {
  if (block.slot !== slotOf(0)) return block;
  return { ...block, blockHeight: 0n, blockTime: node.genesis.creationTime };
}

export function getBlock(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetBlock(params);
  requireConfirmed(parsed.commitment);
  const block = findBlock(node, parsed);
  const encoded = encodeBlock(withGenesisFacts(node, block), {
    ...parsed,
    maxVersion: parsed.maxVersion ?? undefined,
  });
  if ('unsupportedVersion' in encoded) throw unsupportedTransactionVersion(encoded.unsupportedVersion);
  return encoded.json;
}
