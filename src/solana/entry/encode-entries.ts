import { ByteWriter } from '../../base/bytes.ts';

/** An entry with its transactions on the wire. */
export type EncodableEntry = Readonly<{
  /** u64. */
  numHashes: bigint;
  /** 32 bytes. */
  hash: Uint8Array;
  transactions: readonly Uint8Array[];
}>;

/** Writes a bincode `Vec<Entry>`: what a batch of shreds carries. */
export function encodeEntries(entries: readonly EncodableEntry[]): Uint8Array {
  const writer = new ByteWriter(1024);
  writer.u64(BigInt(entries.length));
  for (const { numHashes, hash, transactions } of entries) {
    writer.u64(numHashes).bytes(hash).u64(BigInt(transactions.length));
    for (const transaction of transactions) writer.bytes(transaction);
  }
  return writer.finish();
}
