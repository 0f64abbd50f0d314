import { ByteReader } from '../../../base/bytes.ts';
import { ADDRESS_BYTES } from '../../../solana/address.ts';
import { readShortVec } from '../../../solana/short-vec.ts';
import { SIGNATURE_BYTES } from '../../../solana/signature.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';

const VERSION_PREFIX = 0x80;
/** Approximate growth of a message in protobuf. */
const GROWTH_BYTES = 100;

/** `ProtobufWriter.close` that also adjusts the offsets from index `first` on. */
export function closeWithOffsets(
  writer: ProtobufWriter,
  start: number,
  offsets: number[],
  first: number,
): number {
  const moved = writer.close(start);
  if (moved !== start) {
    for (let i = first; i < offsets.length; i++) offsets[i] = (offsets[i] as number) + moved - start;
  }
  return moved;
}

function writeMessage(writer: ProtobufWriter, wire: ByteReader, offsets: number[]): void {
  const first = wire.bytes(1);
  const versioned = (first[0] as number) >= VERSION_PREFIX;
  const counts = versioned ? wire.bytes(3) : Uint8Array.of(first[0] as number, wire.u8(), wire.u8());
  const start = writer.open(1);
  counts.forEach((count, index) => void writer.uint32OrNone(index + 1, count));
  writer.close(start);
  for (let left = readShortVec(wire); left > 0; left--) {
    writer.bytes(2, wire.bytes(ADDRESS_BYTES));
    offsets.push(writer.length - ADDRESS_BYTES);
  }
  writer.bytes(3, wire.bytes(ADDRESS_BYTES));
  for (let left = readShortVec(wire); left > 0; left--) {
    const start = writer.open(4);
    writer.uint32OrNone(1, wire.u8());
    writer.bytesOrNone(2, wire.bytes(readShortVec(wire)));
    writer.bytesOrNone(3, wire.bytes(readShortVec(wire)));
    writer.close(start);
  }
  if (!versioned) return;
  writer.bool(5, true);
  for (let left = readShortVec(wire); left > 0; left--) {
    const start = writer.open(6);
    writer.bytes(1, wire.bytes(ADDRESS_BYTES));
    writer.bytesOrNone(2, wire.bytes(readShortVec(wire)));
    writer.bytesOrNone(3, wire.bytes(readShortVec(wire)));
    writer.close(start);
  }
}

/**
 * Writes the fields of `solana.storage.ConfirmedBlock.Transaction`.
 * @param wire - legacy or version 0 transaction.
 * @param offsets - receives the position of each static key.
 * @throws OutOfBytes, InvalidShortVec
 */
export function writeStorageTransaction(writer: ProtobufWriter, wire: Uint8Array, offsets: number[]): void {
  const reader = new ByteReader(wire);
  for (let left = readShortVec(reader); left > 0; left--) writer.bytes(1, reader.bytes(SIGNATURE_BYTES));
  const start = writer.open(2, wire.length + GROWTH_BYTES);
  const first = offsets.length;
  writeMessage(writer, reader, offsets);
  closeWithOffsets(writer, start, offsets, first);
}

/** Reused by synchronous calls. */
const writer = new ProtobufWriter();

/**
 * Encodes `solana.storage.ConfirmedBlock.Transaction`, with the positions of the static keys in it.
 * @param wire - legacy or version 0 transaction.
 * @throws OutOfBytes, InvalidShortVec
 */
export function encodeWireTransaction(wire: Uint8Array): { transaction: Uint8Array; keyOffsets: number[] } {
  const keyOffsets: number[] = [];
  writer.clear();
  writeStorageTransaction(writer, wire, keyOffsets);
  return { transaction: writer.take(), keyOffsets };
}
