import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from '../../base/bytes.ts';
import { type Address, addressBytes, addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import { encodeMessage, type Message, type MessageVersion } from '../message/message.ts';
import { programs } from '../programs.ts';
import { readShortVec, writeShortVec } from '../short-vec.ts';
import { decodeTransaction } from './decode-transaction.ts';
import { encodeTransaction } from './encode-transaction.ts';
import { isSimpleVote } from './simple-vote.ts';
import { readWireTransaction, WireScanner } from './wire-transaction.ts';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const address = fc.oneof(bytes32.map(addressFromBytes), fc.constant(programs.vote));
const bytes = fc.uint8Array({ maxLength: 20 });
const lookup = fc.record({ accountKey: address, writableIndexes: bytes, readonlyIndexes: bytes });
const instruction = fc.record({ programIdIndex: fc.nat(6), accounts: bytes, data: bytes });
const message: fc.Arbitrary<Message> = fc.record({
  version: fc.constantFrom<MessageVersion[]>('legacy', 0),
  header: fc.record({
    numRequiredSignatures: fc.nat(4),
    numReadonlySignedAccounts: fc.nat(4),
    numReadonlyUnsignedAccounts: fc.nat(4),
  }),
  accountKeys: fc.array(address, { minLength: 1, maxLength: 5 }),
  recentBlockhash: bytes32.map(blockhashFromBytes),
  instructions: fc.array(instruction, { maxLength: 3 }),
  addressTableLookups: fc.array(lookup, { maxLength: 2 }),
});
const wire = fc
  .tuple(fc.array(fc.uint8Array({ minLength: 64, maxLength: 64 }), { minLength: 1, maxLength: 3 }), message)
  .map(([signatures, one]) =>
    encodeTransaction(
      signatures,
      encodeMessage(one.version === 'legacy' ? { ...one, addressTableLookups: [] } : one),
    ),
  );

const keyAt = (view: { bytes: Uint8Array }, at: number): Address =>
  addressFromBytes(view.bytes.subarray(at, at + 32));

describe('wire transaction view', () => {
  it('matches the strict decoder', () => {
    fc.assert(
      fc.property(wire, (sent) => {
        const view = readWireTransaction(sent)!;
        const decoded = decodeTransaction(sent);
        if ('fault' in decoded) throw new Error(decoded.fault);
        const { transaction } = decoded;
        expect(view.version).toBe(transaction.message.version);
        expect(view.message).toEqual(transaction.messageBytes);
        expect(view.signature).toEqual(sent.subarray(1, 65));
        expect(view.keyOffsets.map((at) => keyAt(view, at))).toEqual(transaction.message.accountKeys);
        expect(view.isVote).toBe(isSimpleVote(transaction));
        expect(view.lookups).toEqual(
          transaction.message.addressTableLookups.map((one) => ({
            ...one,
            accountKey: Uint8Array.from(addressBytes(one.accountKey)),
          })),
        );
      }),
    );
  });

  it('is null for truncated or trailing bytes', () => {
    fc.assert(
      fc.property(wire, fc.nat(), (sent, cut) => {
        expect(readWireTransaction(sent.subarray(0, cut % sent.length))).toBeNull();
        expect(readWireTransaction(Uint8Array.from([...sent, 0]))).toBeNull();
      }),
    );
  });

  it('reads lengths as strictly as the decoder', () => {
    for (let a = 0; a < 256; a += 5) {
      for (const rest of [
        [0x00],
        [0x01],
        [0x7f],
        [0x80, 0x00],
        [0x80, 0x01],
        [0xff, 0x03],
        [0xff, 0x04],
        [0x80, 0x80],
      ]) {
        const input = Uint8Array.from([a, ...rest]);
        const scan = new WireScanner(input);
        const value = scan.compact();
        let expected: number | null = null;
        try {
          expected = readShortVec(new ByteReader(input));
        } catch {}
        expect(scan.isBroken ? null : value).toBe(expected);
      }
    }
    for (const length of [0, 127, 128, 16_383, 16_384, 65_535]) {
      const writer = new ByteWriter();
      writeShortVec(writer, length);
      expect(new WireScanner(writer.finish()).compact()).toBe(length);
    }
  });
});
