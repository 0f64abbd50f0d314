import { isDeepStrictEqual } from 'node:util';
import { encodeEntries, measureEntries, readEntries, readTransactions } from '../../src/solana/entries.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';

export const from = 'leaders, through shreds';
export const covers = ['solana/entries.ts', 'solana/transaction/wire-transaction.ts'];

const transaction = Uint8Array.from([
  1,
  ...Array(64).fill(7),
  1,
  0,
  1,
  2,
  ...Array(64).fill(1),
  ...Array(32).fill(2),
  1,
  1,
  1,
  0,
  2,
  5,
  6,
]);
const versioned = Uint8Array.from([
  ...transaction.slice(0, 65),
  0x80,
  ...transaction.slice(65),
  1,
  ...Array(32).fill(3),
  1,
  4,
  0,
]);
const entry = { numHashes: 5n, hash: new Uint8Array(32), transactions: [transaction, versioned] };

export const seeds: readonly Uint8Array[] = [
  encodeEntries([entry]),
  encodeEntries([entry, { ...entry, transactions: [] }, entry]),
  Uint8Array.from([...encodeEntries([{ ...entry, transactions: [] }]), 0, 0, 0, 0]),
  Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1, 0, 9]),
];

/**
 * A batch is read or refused, and all ways of looking at it agree; entries that are read are written again as they
 * stood, and each of their transactions has the end that the strict decoder finds, if it takes it.
 */
export function fuzz(input: Uint8Array): boolean {
  const { kind, length } = measureEntries(input);
  const entries = readEntries(input);
  if ((entries === null) !== (kind === 'malformed')) throw new Error('two opinions of a batch');
  const alone = entries && {
    entries: entries.length,
    transactions: entries.flatMap(({ transactions }) => transactions),
  };
  if (!isDeepStrictEqual(readTransactions(input), alone)) throw new Error('other transactions');
  if (entries === null || kind !== 'entries') return false;
  const wires = entries.map((one) => ({ ...one, transactions: one.transactions.map(({ bytes }) => bytes) }));
  if (Buffer.compare(encodeEntries(wires), input.subarray(0, length)) !== 0)
    throw new Error('written otherwise');
  for (const { bytes, version } of entries.flatMap(({ transactions }) => transactions)) {
    const decoded = decodeTransaction(bytes, 'ignored');
    if (version === 1 || 'fault' in decoded) continue;
    if (decoded.transaction.wire.length !== bytes.length) throw new Error('two ends of a transaction');
  }
  return true;
}
