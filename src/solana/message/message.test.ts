import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import { decodeMessage, encodeMessage, type Message } from './message.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const short = fc.uint8Array({ maxLength: 40 });

const anyMessage: fc.Arbitrary<Message> = fc
  .record({
    version: fc.constantFrom('legacy' as const, 0 as const),
    signatures: fc.nat(127),
    readonlySigned: fc.nat(255),
    readonlyUnsigned: fc.nat(255),
    keys: fc.array(key, { maxLength: 8 }),
    blockhash: key,
    instructions: fc.array(fc.record({ programIdIndex: fc.nat(255), accounts: short, data: short }), {
      maxLength: 5,
    }),
    lookups: fc.array(fc.record({ table: key, writable: short, readonly: short }), { maxLength: 3 }),
  })
  .map((raw) => ({
    version: raw.version,
    header: {
      numRequiredSignatures: raw.signatures,
      numReadonlySignedAccounts: raw.readonlySigned,
      numReadonlyUnsignedAccounts: raw.readonlyUnsigned,
    },
    accountKeys: raw.keys.map(addressFromBytes),
    recentBlockhash: blockhashFromBytes(raw.blockhash),
    instructions: raw.instructions,
    addressTableLookups:
      raw.version === 'legacy'
        ? []
        : raw.lookups.map(({ table, writable, readonly }) => ({
            accountKey: addressFromBytes(table),
            writableIndexes: writable,
            readonlyIndexes: readonly,
          })),
  }));

function decoded(bytes: Uint8Array): Message {
  const result = decodeMessage(bytes);
  if ('fault' in result) throw new Error(result.fault);
  return result.message;
}

const faultIn = (bytes: Uint8Array): string | undefined => {
  const result = decodeMessage(bytes);
  return 'fault' in result ? result.fault : undefined;
};

const [legacy, v0] = (['legacy', 0] as const).map((version) =>
  encodeMessage(fc.sample(anyMessage, { numRuns: 200, seed: 5 }).find((one) => one.version === version)!),
) as [Uint8Array, Uint8Array];

describe('message codec', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(decoded(encodeMessage(message))).toEqual(message);
      }),
    );
  });

  it('rejects trailing bytes', () => {
    for (const bytes of [legacy, v0]) {
      expect(faultIn(Uint8Array.from([...bytes, 0]))).toBe('Trailing bytes remain after deserialization');
    }
  });

  it('rejects truncation at any byte', () => {
    for (let length = 0; length < v0.length; length++) {
      expect(faultIn(v0.subarray(0, length))).toMatch(/^Attempting to read \d+ bytes$/);
    }
  });

  it('rejects other versions', () => {
    expect(faultIn(Uint8Array.from([0x82, ...v0.subarray(1)]))).toBe('Invalid tag encoding: 2');
    expect(faultIn(Uint8Array.from([0xff, ...v0.subarray(1)]))).toBe('Invalid tag encoding: 127');
  });
});
