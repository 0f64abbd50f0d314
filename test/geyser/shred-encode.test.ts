import { SubscribeUpdate, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockTail } from '../../src/protocol/geyser/encode/block.ts';
import {
  deshredPingTail,
  deshredPongTail,
  deshredTransactionTail,
} from '../../src/protocol/geyser/encode/deshred.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { encodeWireTransaction } from '../../src/protocol/geyser/storage/encode-transaction.ts';
import { decodeSubscribeUpdate } from '../../src/protocol/geyser/subscribe-update.ts';
import type { BlockUpdate } from '../../src/protocol/geyser/update/block.ts';
import type { TransactionUpdate } from '../../src/protocol/geyser/update/transaction.ts';
import { envelope, key, updates } from './arbitrary.ts';
import { oracleTransaction } from './oracle.ts';
import { messageOf, rawBlock } from './re-encode.ts';
import { shapeOf } from './shapes.ts';

/** Encoding of transactions before execution, and of partial blocks. */
const u32 = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 0xffff_ffff));
const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);

const read = (kind: 'transaction' | 'block' | 'slot') =>
  updates[kind].map((update) => {
    const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update)).finish();
    return decodeSubscribeUpdate(wire).update;
  });
const transaction = read('transaction') as fc.Arbitrary<TransactionUpdate>;
const block = read('block') as fc.Arbitrary<BlockUpdate>;

/** What is known of a transaction before it is run, with its bytes as they are written. */
const shredded = fc
  .record({
    update: transaction,
    signature: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    loadedWritable: fc.array(key, { maxLength: 5 }),
    loadedReadonly: fc.array(key, { maxLength: 5 }),
    firstShredIndex: u32,
    endShredIndex: u32,
    index: u32,
  })
  .map(({ update, ...rest }) => ({
    ...rest,
    slot: update.slot,
    isVote: update.info.isVote,
    meant: oracleTransaction(update.info.executed.transaction),
    transaction: encodeWireTransaction(update.info.executed.transaction.wire).transaction,
    wire: update.info.executed.transaction.wire,
  }));

describe('an encoded deshred transaction', () => {
  it('is read by the published codec', () => {
    fc.assert(
      fc.property(shredded, envelope, ({ meant, wire: _wire, ...fields }, { filters, createdAt }) => {
        const at = createdAt ?? new Date(0);
        const tail = deshredTransactionTail({
          ...fields,
          createdAt: encodeTimestamp(BigInt(at.getTime())),
        });
        expect(SubscribeUpdateDeshred.decode(messageOf(filters, tail))).toEqual({
          filters,
          createdAt: at,
          deshredTransaction: {
            slot: String(fields.slot),
            transaction: {
              signature: plain(fields.signature),
              isVote: fields.isVote,
              transaction: meant,
              loadedWritableAddresses: fields.loadedWritable,
              loadedReadonlyAddresses: fields.loadedReadonly,
              completedDataSetStartingShredIndex: fields.firstShredIndex,
              completedDataSetEndingShredIndexExclusive: fields.endShredIndex,
            },
          },
        });
      }),
      { numRuns: 200 },
    );
  });
});

describe('other deshred updates', () => {
  it('are read by the published codec: a ping and a pong', () => {
    const at = encodeTimestamp(5_250n);
    const createdAt = new Date(5_250);
    expect(SubscribeUpdateDeshred.decode(deshredPingTail(at))).toEqual({ filters: [], createdAt, ping: {} });
    for (const id of [0, 1, -1, 0x7fff_ffff, -0x8000_0000]) {
      expect(SubscribeUpdateDeshred.decode(deshredPongTail(id, at))).toEqual({
        ...{ filters: [], createdAt, pong: { id } },
      });
    }
  });
});

describe('a partial block', () => {
  const parts = fc.uniqueArray(fc.nat(25), { maxLength: 4 }).map((ends) =>
    ends
      .toSorted((a, b) => a - b)
      .map((offset, index, all) => ({
        offset,
        length: index % 2 === 0 ? (all[index + 1] ?? 30) - offset : 1,
      }))
      .filter((_, index) => index % 2 === 0),
  );

  it('contains the selected parts, sliced accounts, and the counts of the whole block', () => {
    fc.assert(
      fc.property(block, fc.nat(7), fc.option(parts), envelope, (update, chosen, slices, { filters }) => {
        const raw = rawBlock(update, encodeTimestamp(9_000n));
        const choose = <T>(bit: number, all: readonly T[]): readonly T[] =>
          chosen & bit ? all : all.slice(1);
        const tail = blockTail(raw, {
          transactions: choose(1, raw.transactions),
          accounts: choose(2, raw.accounts),
          entries: choose(4, raw.entries),
          slices:
            slices?.map(({ offset, length }) => ({ offset: BigInt(offset), length: BigInt(length) })) ?? null,
        });
        const cut = (data: Uint8Array): Uint8Array =>
          slices === null
            ? data
            : Uint8Array.from(
                slices
                  .filter(({ offset, length }) => offset + length <= data.length)
                  .flatMap(({ offset, length }) => [...data.subarray(offset, offset + length)]),
              );
        const expected = {
          ...update,
          transactions: choose(1, update.transactions),
          accounts: choose(2, update.accounts).map((write) => ({
            ...write,
            account: { ...write.account, data: cut(write.account.data) },
          })),
          entries: choose(4, update.entries),
        };
        const decoded = decodeSubscribeUpdate(messageOf(filters, tail));
        expect(shapeOf(decoded.update!)).toEqual(shapeOf(expected));
        expect([decoded.filters, decoded.createdAt]).toEqual([filters, 9_000n]);
      }),
      { numRuns: 200 },
    );
  });
});
