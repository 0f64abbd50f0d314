import { SubscribeUpdate, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import type { RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import { readDeshredUpdate } from '../../src/protocol/geyser/read-deshred-update.ts';
import { readRawUpdate } from '../../src/protocol/geyser/read-raw-update.ts';
import { slotStatuses } from '../../src/protocol/geyser/update/slot.ts';
import { envelope, key, updates } from './arbitrary.ts';
import { messageOf, rawOf } from './re-encode.ts';
import { readShape, typedUpdate } from './shapes.ts';

const { block, ping, pong, transactionStatus, ...otherUpdates } = updates;
const NOW = 1_700_000_000_123;
const writer = (): ProtobufWriter => new ProtobufWriter();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** All fields of an update that filters and blocks use, as plain values. */
function facts(raw: RawUpdate): unknown {
  const plain = (value: unknown): unknown => (value instanceof Uint8Array ? hex(value) : value);
  const { tail: _tail, createdAt, ...rest } = raw;
  const shown = Object.entries(rest).map(([name, value]) => [name, plain(value)]);
  // Encoded parts are compared after decoding instead; see `partOf`.
  const parts = Object.fromEntries(
    shown.filter(([name]) => !['info', 'message', 'meta', 'keys'].includes(name as string)),
  );
  if (raw.kind !== 'transaction') return { ...parts, createdAt: hex(createdAt) };
  const { bytes, offsets } = raw.keys;
  const keys = offsets.map((at) => hex(bytes.subarray(at, at + 32)));
  return { ...parts, createdAt: hex(createdAt), keys };
}

const wireOf = (update: Partial<SubscribeUpdate>, around: Partial<SubscribeUpdate>): Uint8Array =>
  SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ...around, ...update })).finish();

/** A message with the part of an update that is forwarded unchanged. */
function partOf(raw: RawUpdate): Uint8Array {
  if (raw.kind === 'account') return writer().bytes(2, writer().bytes(1, raw.info).finish()).finish();
  if (raw.kind === 'transaction') return writer().bytes(4, writer().bytes(1, raw.info).finish()).finish();
  if (raw.kind === 'entry') return writer().bytes(8, raw.message).finish();
  return raw.kind === 'blockMeta' ? writer().bytes(7, raw.message).finish() : new Uint8Array();
}

describe('a raw update', () => {
  it.each(Object.keys(otherUpdates) as (keyof typeof otherUpdates)[])(
    'preserves its bytes and exposes the fields that are used: %s',
    (kind) => {
      fc.assert(
        fc.property(otherUpdates[kind], envelope, (update, { filters, createdAt = new Date(NOW) }) => {
          const wire = wireOf(update, { filters, createdAt });
          const raw = readRawUpdate(wire, 0) as RawUpdate;
          const theirs = SubscribeUpdate.decode(wire);
          expect(SubscribeUpdate.decode(messageOf(['x'], raw.tail))).toEqual({ ...theirs, filters: ['x'] });
          const written = rawOf(typedUpdate(update), encodeTimestamp(BigInt(createdAt.getTime())));
          expect(facts(raw)).toEqual(facts(written));
          const parts = [raw, written].map((each) => readShape(kind, SubscribeUpdate.decode(partOf(each))));
          expect(parts[0]).toEqual(parts[1]);
        }),
        { numRuns: 150 },
      );
    },
  );

  it('drops filter names at any position', () => {
    const slot = writer().uint64(1, 5n);
    const wire = writer()
      .string(1, 'a')
      .message(3, slot)
      .string(1, 'b')
      .bytes(11, encodeTimestamp(9n))
      .finish();
    const { tail } = readRawUpdate(wire, NOW) as RawUpdate;
    expect(hex(tail)).toBe(hex(writer().message(3, slot).bytes(11, encodeTimestamp(9n)).finish()));
  });

  it('receives a timestamp if it has none', () => {
    const wire = writer().string(1, 'a').message(3, writer().uint64(1, 5n)).finish();
    const { tail, createdAt } = readRawUpdate(wire, NOW) as RawUpdate;
    expect(SubscribeUpdate.decode(tail).createdAt).toEqual(new Date(NOW));
    expect(hex(createdAt)).toBe(hex(encodeTimestamp(BigInt(NOW))));
  });

  it('may contain a transaction of an unknown version', () => {
    const key = new Uint8Array(32).fill(7);
    const message = writer().bytes(2, key).bool(5, true).message(7, writer().uint64(1, 9n));
    const info = writer().bytes(1, new Uint8Array(64)).message(3, writer().message(2, message));
    const wire = writer().message(4, writer().message(1, info).uint64(2, 5n)).finish();
    const raw = readRawUpdate(wire, NOW);
    if (raw?.kind !== 'transaction') throw new Error('no transaction');
    const [offset = 0] = raw.keys.offsets;
    expect(hex(raw.keys.bytes.subarray(offset, offset + 32))).toBe(hex(key));
    expect([raw.meta, raw.err, raw.index]).toEqual([null, null, 0]);
    // Unknown fields, such as the version 1 `config` in field 7, are forwarded unchanged, alone and in a block.
    expect(hex(raw.tail)).toBe(hex(wire) + hex(writer().bytes(11, raw.createdAt).finish()));
    expect(hex(raw.info)).toBe(hex(info.finish()));
  });

  it('exposes only the counts of a block, and the id of a pong', () => {
    fc.assert(
      fc.property(block, envelope, (update, around) => {
        const { slot, updatedAccountCount } = update.block!;
        expect(readRawUpdate(wireOf(update, around), NOW)).toEqual({
          kind: 'blockCounts',
          slot: BigInt(slot),
          updatedAccountCount: Number(updatedAccountCount),
        });
      }),
      { numRuns: 50 },
    );
    expect(readRawUpdate(wireOf({ ping: {} }, {}), NOW)).toEqual({ kind: 'ping' });
    expect(readRawUpdate(wireOf({ pong: { id: -3 } }, {}), NOW)).toEqual({ kind: 'pong', id: -3 });
    const status = { slot: '5', signature: new Uint8Array(64), isVote: false, index: '0', err: undefined };
    expect(readRawUpdate(wireOf({ transactionStatus: status }, {}), NOW)).toBeNull();
    expect(readRawUpdate(writer().message(12, writer()).finish(), NOW)).toBeNull();
  });

  it.each([
    ['two updates', writer().message(3, writer()).message(3, writer())],
    [
      'an account without an address',
      writer().message(2, writer().message(1, writer().bytes(3, new Uint8Array(32)))),
    ],
    [
      'more keys than an index can address',
      writer().message(
        4,
        writer().message(
          1,
          Array.from({ length: 257 }).reduce<ProtobufWriter>(
            (info) => info.message(4, writer().bytes(12, new Uint8Array(32))),
            writer().bytes(1, new Uint8Array(64)),
          ),
        ),
      ),
    ],
    [
      'a key of 31 bytes',
      writer().message(4, writer().message(1, writer().message(4, writer().bytes(13, new Uint8Array(31))))),
    ],
  ])('is rejected if it contains %s', (_name, message) => {
    expect(() => readRawUpdate(message.finish(), NOW)).toThrow(InvalidProtobuf);
  });
});

const index = fc.nat(0xffff_ffff);
const keys = fc.array(key, { maxLength: 3 });

/** A transaction update, including the fields specific to this stream. */
const anyUpdate = fc
  .record({ update: updates.transaction, writable: keys, readonly: keys, first: index, end: index })
  .map(({ update, writable, readonly, first, end }) => {
    const { slot, transaction: placed } = update.transaction!;
    const { signature, isVote, transaction } = placed!;
    return {
      deshredTransaction: {
        slot,
        transaction: {
          ...{ signature, isVote, transaction },
          loadedWritableAddresses: writable,
          loadedReadonlyAddresses: readonly,
          completedDataSetStartingShredIndex: first,
          completedDataSetEndingShredIndexExclusive: end,
        },
      },
    };
  });

const written = (update: object): Uint8Array =>
  SubscribeUpdateDeshred.encode(SubscribeUpdateDeshred.fromPartial(update)).finish();

describe('decoding a SubscribeDeshred update', () => {
  it('reads a transaction with all keys in order', () => {
    fc.assert(
      fc.property(anyUpdate, envelope, (update, around) => {
        const { createdAt, update: read } = readDeshredUpdate(written({ ...update, ...around }));
        if (read?.kind !== 'transaction') throw new Error('it was not read as a transaction');
        const { slot, transaction: info } = update.deshredTransaction;
        expect(createdAt).toEqual(around.createdAt === undefined ? null : BigInt(around.createdAt.getTime()));
        expect([String(read.slot), hex(read.signature), read.isVote]).toEqual([
          slot,
          hex(info.signature),
          info.isVote,
        ]);
        const { bytes, offsets } = read.keys;
        expect(offsets.map((at) => hex(bytes.subarray(at, at + 32)))).toEqual(
          [
            ...info.transaction!.message!.accountKeys,
            ...info.loadedWritableAddresses,
            ...info.loadedReadonlyAddresses,
          ].map(hex),
        );
        expect(read.loadedWritable.map(hex)).toEqual(info.loadedWritableAddresses.map(hex));
        expect(read.loadedReadonly.map(hex)).toEqual(info.loadedReadonlyAddresses.map(hex));
        expect([read.firstShredIndex, read.endShredIndex]).toEqual([
          info.completedDataSetStartingShredIndex,
          info.completedDataSetEndingShredIndexExclusive,
        ]);
      }),
      { numRuns: 150 },
    );
  });

  it('reads a slot, a ping and a pong', () => {
    fc.assert(
      fc.property(updates.slot, (update) => {
        const { slot, parent, status, deadError } = update.slot!;
        expect(readDeshredUpdate(written(update)).update).toEqual({
          kind: 'slot',
          slot: BigInt(slot),
          parent: parent === undefined ? null : BigInt(parent),
          status: slotStatuses.at(status),
          deadError: deadError ?? null,
        });
      }),
    );
    expect(readDeshredUpdate(written({ ping: {} })).update).toEqual({ kind: 'ping' });
    expect(readDeshredUpdate(written({ pong: { id: 5 } })).update).toEqual({ kind: 'pong' });
  });

  it('rejects more keys than an index can address', () => {
    const update = (loaded: number): Uint8Array =>
      written({
        deshredTransaction: {
          transaction: {
            ...{ signature: new Uint8Array(64), transaction: { signatures: [] } },
            loadedWritableAddresses: Array(loaded).fill(new Uint8Array(32)),
          },
        },
      });
    expect(readDeshredUpdate(update(256)).update?.kind).toBe('transaction');
    expect(() => readDeshredUpdate(update(257))).toThrow(InvalidProtobuf);
  });
});
