import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressBytes } from '../../src/ledger/address.ts';
import { signatureBytes } from '../../src/ledger/signature.ts';
import { rawAccount } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import { slicedAccountTail } from '../../src/protocol/geyser/encode/sliced-account.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/timestamp.ts';
import { transactionStatusTail } from '../../src/protocol/geyser/encode/transaction-status.ts';
import { decodeSubscribeUpdate, type Update } from '../../src/protocol/geyser/subscribe-update.ts';
import { envelope, updates } from './arbitrary.ts';
import { messageOf, tailOf } from './re-encode.ts';
import { readShape, shapeOf } from './shapes.ts';

type Kind = keyof typeof updates;
const { transactionStatus: _status, ...encoded } = updates;

const AT = encodeTimestamp(1_700_000_000_123n);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A random update as our own reader has it. */
const updateOf = <K extends Update['kind'] & Kind>(kind: K) =>
  updates[kind].map((update) => {
    const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update)).finish();
    return decodeSubscribeUpdate(wire).update as Extract<Update, { kind: K }>;
  });

describe('an update that is written', () => {
  it.each(Object.keys(encoded) as (keyof typeof encoded)[])(
    'is read by the published codec and by ours as it was meant: %s',
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

describe('a written account', () => {
  it('shows what filters look at', () => {
    fc.assert(
      fc.property(updateOf('account'), (update) => {
        const raw = rawAccount({ ...update, createdAt: AT });
        const { address, account, signature, writeVersion } = update.write;
        expect(hex(raw.address)).toBe(hex(addressBytes(address)));
        expect(hex(raw.owner)).toBe(hex(addressBytes(account.owner)));
        expect(hex(raw.data)).toBe(hex(account.data));
        expect(raw.signature && hex(raw.signature)).toBe(signature && hex(signatureBytes(signature)));
        expect([raw.lamports, raw.writeVersion, raw.isStartup, raw.slot]).toEqual([
          account.lamports,
          writeVersion,
          update.isStartup,
          update.slot,
        ]);
      }),
    );
  });

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
      'parts side by side',
      [
        [1n, 1n],
        [2n, 3n],
      ],
      [1, 2, 3, 4],
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
    ['nothing of a part without length', [[3n, 0n]], []],
    ['nothing, when nothing is wanted', [], []],
  ] as const)('is cut to %s', (_name, parts, expected) => {
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

describe('a written transaction', () => {
  it('shows what filters look at', () => {
    fc.assert(
      fc.property(updateOf('transaction'), (update) => {
        const { bytes, offsets } = rawTransaction({ ...update, createdAt: AT }).keys;
        const { transaction, meta } = update.placed.executed;
        const { writable, readonly } = meta.loadedAddresses;
        const keys = [...transaction.message.accountKeys, ...writable, ...readonly];
        expect(offsets.map((at) => hex(bytes.subarray(at, at + 32)))).toEqual(
          keys.map((key) => hex(addressBytes(key))),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('becomes its status', () => {
    fc.assert(
      fc.property(updateOf('transaction'), (update) => {
        const wire = messageOf(['a'], transactionStatusTail(rawTransaction({ ...update, createdAt: AT })));
        const { signature, isVote, index, executed } = update.placed;
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

describe('a moment', () => {
  it.each([0n, 1n, 999n, 1000n, 1_700_000_000_123n, -1n, -1500n])('is written: %s ms', (ms) => {
    const wire = messageOf([], tailOf({ kind: 'ping' }, encodeTimestamp(ms)));
    expect(SubscribeUpdate.decode(wire).createdAt?.getTime()).toBe(Number(ms));
  });
});
