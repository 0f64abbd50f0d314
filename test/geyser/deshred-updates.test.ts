import { SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import { readDeshredUpdate } from '../../src/protocol/geyser/read-deshred-update.ts';
import { slotStatuses } from '../../src/protocol/geyser/update/slot.ts';
import { envelope, key, updates } from './arbitrary.ts';

const index = fc.nat(0xffff_ffff);
const keys = fc.array(key, { maxLength: 3 });

/** A transaction as a server sends it, with the fields that only this stream has. */
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

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

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
