import { ByteReader } from '../../../base/bytes.ts';
import { ADDRESS_BYTES, addressBytes } from '../../../solana/address.ts';
import { BLOCKHASH_BYTES, blockhashBytes } from '../../../solana/blockhash.ts';
import { type Message, readMessage, VERSION_PREFIX } from '../../../solana/message/message.ts';
import type { TransactionConfig } from '../../../solana/message/transaction-config.ts';
import { readShortVec } from '../../../solana/short-vec.ts';
import { SIGNATURE_BYTES } from '../../../solana/signature.ts';
import { VERSION_1_PREFIX } from '../../../solana/transaction/wire-transaction.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';

const PROTOBUF_OVERHEAD_BYTES = 100;

/** Like `ProtobufWriter.close`, but also adjusts the offsets from index `first` on. */
export function closeWithOffsets(
  writer: ProtobufWriter,
  start: number,
  offsets: number[],
  first: number,
): number {
  const newStart = writer.close(start);
  if (newStart !== start) {
    for (let i = first; i < offsets.length; i++) offsets[i] = (offsets[i] as number) + newStart - start;
  }
  return newStart;
}

function writeHeader(writer: ProtobufWriter, counts: Uint8Array): void {
  const start = writer.open(1);
  counts.forEach((count, index) => void writer.nonzeroUint32(index + 1, count));
  writer.close(start);
}

function writeInstruction(writer: ProtobufWriter, wire: ByteReader): void {
  const start = writer.open(4);
  writer.nonzeroUint32(1, wire.u8());
  writer.nonemptyBytes(2, wire.bytes(readShortVec(wire)));
  writer.nonemptyBytes(3, wire.bytes(readShortVec(wire)));
  writer.close(start);
}

function writeLookup(writer: ProtobufWriter, wire: ByteReader): void {
  const start = writer.open(6);
  writer.bytes(1, wire.bytes(ADDRESS_BYTES));
  writer.nonemptyBytes(2, wire.bytes(readShortVec(wire)));
  writer.nonemptyBytes(3, wire.bytes(readShortVec(wire)));
  writer.close(start);
}

function writeMessage(writer: ProtobufWriter, wire: ByteReader, offsets: number[]): void {
  const first = wire.bytes(1);
  const versioned = (first[0] as number) >= VERSION_PREFIX;
  const counts = versioned ? wire.bytes(3) : Uint8Array.of(first[0] as number, wire.u8(), wire.u8());
  writeHeader(writer, counts);
  for (let remaining = readShortVec(wire); remaining > 0; remaining--) {
    writer.bytes(2, wire.bytes(ADDRESS_BYTES));
    offsets.push(writer.length - ADDRESS_BYTES);
  }
  writer.bytes(3, wire.bytes(BLOCKHASH_BYTES));
  for (let remaining = readShortVec(wire); remaining > 0; remaining--) writeInstruction(writer, wire);
  if (!versioned) return;
  writer.bool(5, true);
  for (let remaining = readShortVec(wire); remaining > 0; remaining--) writeLookup(writer, wire);
}

function writeConfig(writer: ProtobufWriter, config: TransactionConfig): void {
  const { priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config;
  const start = writer.open(7);
  if (priorityFee !== null) writer.uint64(1, priorityFee);
  [computeUnitLimit, loadedAccountsDataSizeLimit, heapSize].forEach((value, index) => {
    if (value !== null) writer.uint32(index + 2, value);
  });
  writer.close(start);
}

function writeVersion1Message(writer: ProtobufWriter, message: Message, offsets: number[]): void {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  writeHeader(
    writer,
    Uint8Array.of(numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts),
  );
  for (const key of message.accountKeys) {
    writer.bytes(2, addressBytes(key));
    offsets.push(writer.length - ADDRESS_BYTES);
  }
  writer.bytes(3, blockhashBytes(message.recentBlockhash));
  for (const { programIdIndex, accounts, data } of message.instructions) {
    const start = writer.open(4);
    writer.nonzeroUint32(1, programIdIndex);
    writer.nonemptyBytes(2, accounts);
    writer.nonemptyBytes(3, data);
    writer.close(start);
  }
  writer.bool(5, true);
  if (message.config !== undefined) writeConfig(writer, message.config);
}

/** Writes `solana.storage.ConfirmedBlock.Transaction`. @param offsets - receives the positions of the static keys. */
export function writeStorageTransaction(writer: ProtobufWriter, wire: Uint8Array, offsets: number[]): void {
  const reader = new ByteReader(wire);
  const version1 = wire[0] === VERSION_1_PREFIX ? readMessage(reader) : null;
  const signatureCount = version1?.header.numRequiredSignatures ?? readShortVec(reader);
  for (let remaining = signatureCount; remaining > 0; remaining--)
    writer.bytes(1, reader.bytes(SIGNATURE_BYTES));
  const start = writer.open(2, wire.length + PROTOBUF_OVERHEAD_BYTES);
  const first = offsets.length;
  if (version1 === null) writeMessage(writer, reader, offsets);
  else writeVersion1Message(writer, version1, offsets);
  closeWithOffsets(writer, start, offsets, first);
}

/** Shared by all calls. This is safe because they are synchronous. */
const sharedWriter = new ProtobufWriter();

/** @throws OutOfBytes, InvalidShortVec, InvalidMessage */
export function encodeWireTransaction(wire: Uint8Array): { transaction: Uint8Array; keyOffsets: number[] } {
  const keyOffsets: number[] = [];
  sharedWriter.clear();
  writeStorageTransaction(sharedWriter, wire, keyOffsets);
  return { transaction: sharedWriter.take(), keyOffsets };
}
