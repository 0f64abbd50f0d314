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
import { rawAccount, slicedAccountTail } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction, transactionStatusTail } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import { encodeWireTransaction } from '../../src/protocol/geyser/storage/encode-transaction.ts';
import { decodeSubscribeUpdate, type Update } from '../../src/protocol/geyser/subscribe-update.ts';
import type { BlockUpdate } from '../../src/protocol/geyser/update/block.ts';
import type { TransactionUpdate } from '../../src/protocol/geyser/update/transaction.ts';
import { envelope, key, updates } from './arbitrary.ts';
import { oracleTransaction } from './oracle.ts';
import { messageOf, rawBlock, tailOf } from './re-encode.ts';
import { readShape, shapeOf } from './shapes.ts';

type Kind = keyof typeof updates;
const { transactionStatus: _status, ...encoded } = updates;
const AT = encodeTimestamp(1_700_000_000_123n);

const updateOf = <K extends Update['kind'] & Kind>(kind: K) =>
  updates[kind].map((update) => {
    const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update)).finish();
    return decodeSubscribeUpdate(wire).update as Extract<Update, { kind: K }>;
  });

describe('an encoded update', () => {
  it.each(Object.keys(encoded) as (keyof typeof encoded)[])(
    'is decoded by the published codec and by Solway: %s',
    (kind) => {
      fc.assert(
        fc.property(updateOf(kind), envelope, (update, { filters, createdAt = new Date(0) }) => {
          const at = BigInt(createdAt.getTime());
          const wire = messageOf(filters, tailOf(update, encodeTimestamp(at)));
          expect(decodeSubscribeUpdate(wire)).toEqual({ filters, createdAt: at, update });
          const theirs = SubscribeUpdate.decode(wire);
          expect(theirs.filters).toEqual(filters);
          expect(theirs.createdAt).toEqual(createdAt);
          expect(readShape(kind, theirs)).toEqual(shapeOf(update));
        }),
        { numRuns: 150 },
      );
    },
  );
});

describe('an encoded account', () => {
  it.each([
    [
      'both ends',
      [
        [0n, 2n],
        [6n, 2n],
      ],
      [0, 1, 6, 7],
    ],
    [
      'nothing for a slice that ends after the data',
      [
        [0n, 1n],
        [7n, 2n],
      ],
      [0],
    ],
    ['nothing for a slice whose end exceeds u64', [[2n ** 64n - 1n, 2n ** 64n - 1n]], []],
    ['nothing for an empty list of slices', [], []],
  ] as const)('is sliced into %s', (_name, parts, expected) => {
    fc.assert(
      fc.property(updateOf('account'), (read) => {
        const data = Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7);
        const write = { ...read.write, account: { ...read.write.account, data } };
        const raw = rawAccount({ ...read, write, createdAt: AT });
        const slices = parts.map(([offset, length]) => ({ offset, length }));
        const cut = { ...write, account: { ...write.account, data: Uint8Array.from(expected) } };
        const wire = messageOf([], slicedAccountTail(raw, slices));
        expect(decodeSubscribeUpdate(wire).update).toEqual({ ...read, write: cut });
      }),
      { numRuns: 30 },
    );
  });
});

describe('an encoded transaction', () => {
  it('is converted to its status', () => {
    fc.assert(
      fc.property(updateOf('transaction'), (update) => {
        const wire = messageOf(['a'], transactionStatusTail(rawTransaction({ ...update, createdAt: AT })));
        const { signature, isVote, index, executed } = update.info;
        const status = { slot: update.slot, signature, isVote, index, err: executed.meta.err };
        expect(decodeSubscribeUpdate(wire).update).toEqual({ kind: 'transactionStatus', ...status });
        const theirs = SubscribeUpdate.decode(wire);
        expect(readShape('transactionStatus', theirs)).toEqual(
          shapeOf({ kind: 'transactionStatus', ...status }),
        );
      }),
      { numRuns: 150 },
    );
  });
});

describe('an encoded timestamp', () => {
  it.each([0n, 1_700_000_000_123n, -1500n])('is correct: %s ms', (ms) => {
    const wire = messageOf([], tailOf({ kind: 'ping' }, encodeTimestamp(ms)));
    expect(SubscribeUpdate.decode(wire).createdAt?.getTime()).toBe(Number(ms));
  });
});

describe('decoding a Geyser update', () => {
  it.each(Object.keys(updates) as (keyof typeof updates)[])('reads %s', (kind) => {
    fc.assert(
      fc.property(updates[kind], envelope, (update, around) => {
        const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ...around, ...update })).finish();
        const ours = decodeSubscribeUpdate(wire);
        const theirs = SubscribeUpdate.decode(wire);
        expect(ours.filters).toEqual(theirs.filters);
        expect(ours.createdAt).toEqual(
          theirs.createdAt === undefined ? null : BigInt(theirs.createdAt.getTime()),
        );
        expect(ours.update?.kind).toBe(kind);
        expect(shapeOf(ours.update!)).toEqual(readShape(kind, theirs));
      }),
      { numRuns: 150 },
    );
  });

  it('returns null for an unknown kind', () => {
    expect(decodeSubscribeUpdate(Uint8Array.of(0x0a, 1, 0x61, 0x9a, 6, 1, 0)).update).toBeNull();
  });
});

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

/** A transaction before execution, with its wire bytes. */
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
    expected: oracleTransaction(update.info.executed.transaction),
    transaction: encodeWireTransaction(update.info.executed.transaction.wire).transaction,
    wire: update.info.executed.transaction.wire,
  }));

describe('an encoded deshred transaction', () => {
  it('is decoded by the published codec', () => {
    fc.assert(
      fc.property(shredded, envelope, ({ expected, wire: _wire, ...fields }, { filters, createdAt }) => {
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
              transaction: expected,
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
  it('are decoded by the published codec: ping and pong', () => {
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
