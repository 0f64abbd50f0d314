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
import { readTimestamp } from '../../src/protocol/geyser/fields.ts';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { readRawUpdate } from '../../src/protocol/geyser/read-raw-update.ts';
import { encodeWireTransaction } from '../../src/protocol/geyser/storage/encode-transaction.ts';
import type { DecodableUpdate, Update } from '../../src/protocol/geyser/update/decode-update.ts';
import { decodeUpdate } from '../../src/protocol/geyser/update/decode-update.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import { envelope, key, updates } from './arbitrary.ts';
import { oracleTransaction } from './oracle.ts';
import { decodedUpdate, messageOf, rawBlock, tailOf } from './re-encode.ts';
import { type BlockUpdate, readShape, shapeOf, typedUpdate } from './shapes.ts';

const { account, slot, transaction, block } = updates;
const decodedUpdates = { account, slot, transaction };
const { transactionStatus: _status, ...encoded } = updates;
const AT = encodeTimestamp(1_700_000_000_123n);

const updateOf = <K extends keyof typeof decodedUpdates>(kind: K) =>
  updates[kind].map((update) => typedUpdate(update) as Extract<Update, { kind: K }>);

describe('an encoded update', () => {
  it.each(Object.keys(encoded) as (keyof typeof encoded)[])(
    'is decoded by the published codec: %s',
    (kind) => {
      fc.assert(
        fc.property(updates[kind], envelope, (update, { filters, createdAt = new Date(0) }) => {
          const at = encodeTimestamp(BigInt(createdAt.getTime()));
          const theirs = SubscribeUpdate.decode(messageOf(filters, tailOf(typedUpdate(update), at)));
          expect([theirs.filters, theirs.createdAt]).toEqual([filters, createdAt]);
          expect(readShape(kind, theirs)).toEqual(readShape(kind, SubscribeUpdate.fromPartial(update)));
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
        expect(decodedUpdate(wire)).toEqual({ ...read, write: cut });
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
        expect(readShape('transactionStatus', SubscribeUpdate.decode(wire))).toEqual({
          ...{ kind: 'transactionStatus', slot: String(update.slot), isVote, index: String(index) },
          ...{ signature: plain(signatureBytes(signature)), err: executed.meta.err },
        });
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
  it.each(Object.keys(decodedUpdates) as (keyof typeof decodedUpdates)[])('reads %s', (kind) => {
    fc.assert(
      fc.property(updates[kind], envelope, (update, around) => {
        const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ...around, ...update })).finish();
        const raw = readRawUpdate(wire, 7) as DecodableUpdate;
        const { createdAt = new Date(7) } = around;
        expect(readTimestamp(new ProtobufReader(raw.createdAt))).toBe(BigInt(createdAt.getTime()));
        expect(raw.kind).toBe(kind);
        expect(shapeOf(decodeUpdate(raw))).toEqual(readShape(kind, SubscribeUpdate.decode(wire)));
      }),
      { numRuns: 150 },
    );
  });
});

/** Encoding of transactions before execution, and of partial blocks. */
const u32 = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 0xffff_ffff));
const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);

/** A transaction before execution, with its wire bytes. */
const shredded = fc
  .record({
    update: updateOf('transaction'),
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
        const tail = deshredTransactionTail(fields, encodeTimestamp(BigInt(at.getTime())));
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
        const raw = rawBlock(typedUpdate(update) as BlockUpdate, encodeTimestamp(9_000n));
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
        const whole = update.block!;
        const expected = {
          ...whole,
          transactions: [...choose(1, whole.transactions)],
          accounts: choose(2, whole.accounts).map((write) => ({ ...write, data: cut(write.data) })),
          entries: [...choose(4, whole.entries)],
        };
        const theirs = SubscribeUpdate.decode(messageOf(filters, tail));
        const shape = readShape('block', SubscribeUpdate.fromPartial({ block: expected }));
        expect(readShape('block', theirs)).toEqual(shape);
        expect([theirs.filters, theirs.createdAt]).toEqual([filters, new Date(9_000)]);
      }),
      { numRuns: 200 },
    );
  });
});
