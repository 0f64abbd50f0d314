import { isDeepStrictEqual } from 'node:util';
import { OutOfBytes } from '../../../src/base/bytes.ts';
import { deshredTransactionTail } from '../../../src/protocol/geyser/encode/deshred.ts';
import { encodeTimestamp } from '../../../src/protocol/geyser/encode/envelope.ts';
import { InvalidProtobuf } from '../../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../../src/protocol/geyser/protobuf-writer.ts';
import { readDeshredUpdate } from '../../../src/protocol/geyser/read-deshred-update.ts';
import { decodeEntryMessage, encodeEntryMessage } from '../../../src/protocol/shredstream/entries.ts';
import { encodeEntries, measureEntries, readEntries, readTransactions } from '../../../src/solana/entries.ts';
import { InvalidShortVec } from '../../../src/solana/short-vec.ts';
import { decodeTransaction } from '../../../src/solana/transaction/decode-transaction.ts';
import { slot } from '../../../src/solana/units.ts';
import { BatchReader } from '../../../src/upstream/shreds/shred-stage.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from '../../shreds/deshred-rig.ts';
import { accepted, type Target } from '../engine/target.ts';

const fill = (length: number, byte: number): number[] => Array(length).fill(byte);
const transaction = Uint8Array.from([
  ...[1, ...fill(64, 7), 1, 0, 1, 2, ...fill(64, 1), ...fill(32, 2), 1, 1, 1, 0, 2, 5, 6],
]);
const [signatures, rest] = [transaction.slice(0, 65), transaction.slice(65)];
const versioned = Uint8Array.from([...signatures, 0x80, ...rest, 1, ...fill(32, 3), 1, 4, 0]);
const entry = { numHashes: 5n, hash: new Uint8Array(32), transactions: [transaction, versioned] };

const key = new Uint8Array(32).fill(8);
const position = { slot: slot(9), at: 5n, firstShredIndex: 0, endShredIndex: 1 };

/** Keys lie inside the transactions, which can be encoded as protobuf. */
const batchReader = new BatchReader({
  tables: { resolve: () => ({ writable: [key], readonly: [] }) },
  listener: {
    onBatch: () => {},
    transactions: (transactions) => {
      for (const each of transactions) {
        const { bytes, offsets } = each.keys;
        if (offsets.some((at) => at < 0 || at + 32 > bytes.length))
          throw new RangeError('a key lies outside its bytes');
        accepted(() => each.transaction, OutOfBytes, InvalidShortVec);
      }
    },
  },
});

export const entriesTarget: Target = {
  seeds: [
    encodeEntries([entry]),
    encodeEntries([entry, { ...entry, transactions: [] }, entry]),
    Uint8Array.from([...encodeEntries([{ ...entry, transactions: [] }]), 0, 0, 0, 0]),
    Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1, 0, 9]),
  ],
  /** All readers of a batch agree; entries round-trip, and transactions end where the strict decoder ends. */
  fuzz(input: Uint8Array): boolean {
    batchReader.read({ ...position, entries: input } as Parameters<BatchReader['read']>[0]);
    const { kind, length } = measureEntries(input);
    const entries = readEntries(input);
    if ((entries === null) !== (kind === 'malformed')) throw new Error('readers disagree about a batch');
    const alone = entries && {
      entries: entries.length,
      transactions: entries.flatMap(({ transactions }) => transactions),
    };
    if (!isDeepStrictEqual(readTransactions(input), alone))
      throw new Error('readers disagree about transactions');
    if (entries === null || kind !== 'entries') return false;
    const wires = entries.map((one) => ({
      ...one,
      transactions: one.transactions.map(({ bytes }) => bytes),
    }));
    if (Buffer.compare(encodeEntries(wires), input.subarray(0, length)) !== 0)
      throw new Error('entries change in a round trip');
    for (const { bytes } of entries.flatMap(({ transactions }) => transactions)) {
      const decoded = decodeTransaction(bytes, 'ignored');
      if ('fault' in decoded) continue;
      if (decoded.transaction.wire.length !== bytes.length)
        throw new Error('readers disagree about the end of a transaction');
    }
    return true;
  },
};

const deshredUpdateKey = new Uint8Array(32).fill(7);
const writer = (): ProtobufWriter => new ProtobufWriter();
const message = writer().bytes(2, deshredUpdateKey).bytes(2, new Uint8Array(32)).bytes(3, deshredUpdateKey);
const deshredUpdateTransaction = writer().bytes(1, new Uint8Array(64).fill(1)).message(2, message).finish();

export const deshredUpdateTarget: Target = {
  seeds: [
    deshredTransactionTail(
      {
        ...{ slot: slot(300), isVote: true },
        ...{ signature: new Uint8Array(64).fill(2), transaction: deshredUpdateTransaction },
        ...{ loadedWritable: [deshredUpdateKey], loadedReadonly: [deshredUpdateKey, deshredUpdateKey] },
        ...{ firstShredIndex: 32, endShredIndex: 64 },
      },
      encodeTimestamp(1_700_000_000_123n),
    ),
    writer().message(6, writer().uint64(1, 5n).uint64(2, 4n).uint32(3, 6).string(4, 'why')).finish(),
    writer().message(3, writer()).string(1, 'name').finish(),
    writer().message(4, writer().uint32(1, 5)).finish(),
    encodeEntryMessage(slot(300), new Uint8Array(100).fill(3)),
  ],
  /** Every input is decoded or refused; keys lie inside the message. */
  fuzz(input: Uint8Array): boolean {
    const entries = accepted(() => decodeEntryMessage(input), InvalidProtobuf);
    const update = accepted(() => {
      const read = readDeshredUpdate(input).update;
      if (read?.kind !== 'transaction') return;
      for (const at of read.keys.offsets) {
        if (at < 0 || at + 32 > input.length) throw new Error('a key lies outside its message');
      }
    }, InvalidProtobuf);
    return entries || update;
  },
};

const made = generateSlot(9, [20_000, 500]);
const batches = made.batches.map((entries) => Buffer.from(entries).toString('latin1'));

/** Shared by all inputs, so that leftover state of an input is detected. */
const rig = deshredding({ leaderOf: () => testLeaderKey, shredVersion: () => TEST_SHRED_VERSION });

export const deshredderTarget: Target = {
  seeds: [0, 31, 32, 63, 64, 95, 96, 127].map((i) => made.packets[i]!),
  /** Only genuine entries are reported, and only genuine shreds are buffered. @returns whether it was genuine. */
  fuzz(input: Uint8Array): boolean {
    const before = rig.deshredder.stats.accepted;
    rig.deshredder.push(input);
    for (const { entries } of rig.batches.splice(0)) {
      if (!batches.includes(Buffer.from(entries).toString('latin1')))
        throw new Error('reported forged entries');
    }
    if (rig.slots.splice(0).some(({ slot }) => slot !== 9n)) throw new Error('reported a forged slot');
    const { bytes, slots } = rig.deshredder.usage;
    if (bytes > made.packets.length * 1_228 || slots > 1) throw new Error('holds forged shreds');
    return rig.deshredder.stats.accepted > before;
  },
};
