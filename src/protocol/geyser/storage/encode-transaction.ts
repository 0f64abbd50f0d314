import { ByteReader } from '../../../base/bytes.ts';
import { ADDRESS_BYTES } from '../../../solana/address.ts';
import { BLOCKHASH_BYTES } from '../../../solana/blockhash.ts';
import { VERSION_PREFIX } from '../../../solana/message/message.ts';
import { readShortVec } from '../../../solana/short-vec.ts';
import { SIGNATURE_BYTES } from '../../../solana/signature.ts';
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

/** Writes `solana.storage.ConfirmedBlock.Transaction`. @param offsets - receives the positions of the static keys. */
export function writeStorageTransaction(writer: ProtobufWriter, wire: Uint8Array, offsets: number[]): void {
  const reader = new ByteReader(wire);
  for (let remaining = readShortVec(reader); remaining > 0; remaining--)
    writer.bytes(1, reader.bytes(SIGNATURE_BYTES));
  const start = writer.open(2, wire.length + PROTOBUF_OVERHEAD_BYTES);
  const first = offsets.length;
  writeMessage(writer, reader, offsets);
  closeWithOffsets(writer, start, offsets, first);
}

/** Shared by all calls. This is safe because they are synchronous. */
const sharedWriter = new ProtobufWriter();

/** @param wire - a legacy or version 0 transaction. @throws OutOfBytes, InvalidShortVec */
export function encodeWireTransaction(wire: Uint8Array): { transaction: Uint8Array; keyOffsets: number[] } {
  const keyOffsets: number[] = [];
  sharedWriter.clear();
  writeStorageTransaction(sharedWriter, wire, keyOffsets);
  return { transaction: sharedWriter.take(), keyOffsets };
}
