import { ADDRESS_BYTES, type Address, addressBytes } from '../../../solana/address.ts';
import { decimalText, uiAmount } from '../../../solana/encoding/ui-token-amount.ts';
import {
  encodeTransactionError,
  type TransactionError,
} from '../../../solana/transaction/transaction-error.ts';
import {
  type BlockReward,
  type InnerInstruction,
  type InnerInstructions,
  type ReturnData,
  rewardTypes,
  type TokenBalance,
  type TransactionMeta,
} from '../../../solana/transaction/transaction-meta.ts';
import type { ProtobufWriter } from '../protobuf-writer.ts';

/** An error that cannot be encoded is written as an empty message, so that the transaction still counts as failed. */
function writeError(writer: ProtobufWriter, error: TransactionError): void {
  const bincode = encodeTransactionError(error);
  const start = writer.open(1);
  if (bincode !== null) writer.bytes(1, bincode);
  writer.close(start);
}

function writeInnerInstruction(writer: ProtobufWriter, instruction: InnerInstruction): void {
  const start = writer.open(2);
  writer.nonzeroUint32(1, instruction.programIdIndex);
  writer.nonemptyBytes(2, instruction.accounts);
  writer.nonemptyBytes(3, instruction.data);
  if (instruction.stackHeight !== null) writer.uint32(4, instruction.stackHeight);
  writer.close(start);
}

function writeInnerInstructions(writer: ProtobufWriter, { index, instructions }: InnerInstructions): void {
  // Nearly all of these messages have a length prefix of two bytes.
  const start = writer.open(5, 128);
  writer.nonzeroUint32(1, index);
  for (const instruction of instructions) writeInnerInstruction(writer, instruction);
  writer.close(start);
}

function writeTokenBalance(writer: ProtobufWriter, field: number, balance: TokenBalance): void {
  const start = writer.open(field, 128);
  writer.nonzeroUint32(1, balance.accountIndex);
  writer.string(2, balance.mint);
  const amount = writer.open(3);
  const uiValue = uiAmount(balance.amount, balance.decimals) ?? 0;
  if (uiValue !== 0) writer.double(1, uiValue);
  writer.nonzeroUint32(2, balance.decimals);
  writer.string(3, String(balance.amount));
  writer.string(4, decimalText(balance.amount, balance.decimals));
  writer.close(amount);
  writer.nonemptyString(4, balance.owner ?? '');
  writer.nonemptyString(5, balance.programId ?? '');
  writer.close(start);
}

function writeReturnData(writer: ProtobufWriter, { programId, data }: ReturnData): void {
  const start = writer.open(14);
  writer.bytes(1, addressBytes(programId));
  writer.nonemptyBytes(2, data);
  writer.close(start);
}

function writeKeys(writer: ProtobufWriter, field: number, keys: readonly Address[], offsets: number[]): void {
  for (const key of keys) {
    writer.bytes(field, addressBytes(key));
    offsets.push(writer.length - ADDRESS_BYTES);
  }
}

/**
 * The `…_none` fields mark values that are null. Source: agave storage-proto/src/convert.rs.
 * @param offsets - receives the positions of the loaded keys, writable keys first.
 */
export function writeMeta(writer: ProtobufWriter, meta: TransactionMeta, offsets: number[]): void {
  if (meta.err !== null) writeError(writer, meta.err);
  writer.nonzeroUint64(2, meta.fee);
  writer.packedUint64s(3, meta.preBalances);
  writer.packedUint64s(4, meta.postBalances);
  for (const inner of meta.innerInstructions ?? []) writeInnerInstructions(writer, inner);
  for (const line of meta.logMessages ?? []) writer.string(6, line);
  for (const balance of meta.preTokenBalances ?? []) writeTokenBalance(writer, 7, balance);
  for (const balance of meta.postTokenBalances ?? []) writeTokenBalance(writer, 8, balance);
  for (const reward of meta.rewards ?? []) writeReward(writer, 9, reward);
  writer.trueBool(10, meta.innerInstructions === null);
  writer.trueBool(11, meta.logMessages === null);
  writeKeys(writer, 12, meta.loadedAddresses.writable, offsets);
  writeKeys(writer, 13, meta.loadedAddresses.readonly, offsets);
  if (meta.returnData !== null) writeReturnData(writer, meta.returnData);
  writer.trueBool(15, meta.returnData === null);
  if (meta.computeUnitsConsumed !== null) writer.uint64(16, meta.computeUnitsConsumed);
  if (meta.costUnits !== null) writer.uint64(17, meta.costUnits);
}

function writeReward(writer: ProtobufWriter, field: number, reward: BlockReward): void {
  const start = writer.open(field);
  writer.string(1, reward.pubkey);
  writer.nonzeroUint64(2, reward.lamports);
  writer.nonzeroUint64(3, reward.postBalance);
  if (reward.rewardType !== null) writer.uint32(4, rewardTypes.indexOf(reward.rewardType) + 1);
  if (reward.commission !== null) writer.string(5, String(reward.commission));
  writer.close(start);
}

/** Writes a message with a single number, such as `UnixTimestamp`. Writes nothing for null. */
export function writeWrappedUint64(writer: ProtobufWriter, field: number, value: bigint | null): void {
  if (value === null) return;
  const start = writer.open(field);
  writer.nonzeroUint64(1, value);
  writer.close(start);
}

/** Writes `Rewards`, even if empty. */
export function writeRewards(
  writer: ProtobufWriter,
  field: number,
  rewards: readonly BlockReward[],
  numPartitions: bigint | null,
): void {
  const start = writer.open(field);
  for (const reward of rewards) writeReward(writer, 1, reward);
  writeWrappedUint64(writer, 2, numPartitions);
  writer.close(start);
}
