import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount, slicedAccountTail } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction, transactionStatusTail } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import { decodeSubscribeUpdate, type Update } from '../../src/protocol/geyser/subscribe-update.ts';
import { envelope, updates } from './arbitrary.ts';
import { messageOf, tailOf } from './re-encode.ts';
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
    'is read by the published codec and by ours: %s',
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
      'nothing of a part that ends behind the data',
      [
        [0n, 1n],
        [7n, 2n],
      ],
      [0],
    ],
    ['nothing of a part that no number holds', [[2n ** 64n - 1n, 2n ** 64n - 1n]], []],
    ['nothing, when nothing is wanted', [], []],
  ] as const)('is sliced to %s', (_name, parts, expected) => {
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
  it('converts to its status', () => {
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
