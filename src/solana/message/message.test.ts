import {
  AddressLookupTableAccount,
  type MessageV0,
  Keypair as OracleKeypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import { decodeMessage, encodeMessage, type Message } from './message.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const short = fc.uint8Array({ maxLength: 40 });

/** Any encodable message, sane or not. */
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

/** Transfer compiled by web3.js, one wallet from a lookup table. */
function oracleMessages(): { legacy: Uint8Array; v0: MessageV0 } {
  const [payer, to] = [OracleKeypair.generate().publicKey, OracleKeypair.generate().publicKey];
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: PublicKey.unique().toBase58(),
    instructions: [SystemProgram.transfer({ fromPubkey: payer, toPubkey: to, lamports: 5 })],
  });
  const table = new AddressLookupTableAccount({
    key: PublicKey.unique(),
    state: {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [PublicKey.unique(), to],
    },
  });
  return {
    legacy: message.compileToLegacyMessage().serialize(),
    v0: message.compileToV0Message([table]),
  };
}

describe('message codec', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(decoded(encodeMessage(message))).toEqual(message);
      }),
    );
  });

  it('matches web3.js for legacy and version 0', () => {
    const { legacy, v0 } = oracleMessages();
    expect([...encodeMessage(decoded(legacy))]).toEqual([...legacy]);
    const message = decoded(v0.serialize());
    expect(message.version).toBe(0);
    expect(message.accountKeys).toEqual(v0.staticAccountKeys.map(String));
    expect(message.recentBlockhash).toBe(v0.recentBlockhash);
    expect(message.addressTableLookups.map(({ accountKey }) => accountKey)).toEqual(
      v0.addressTableLookups.map(({ accountKey }) => accountKey.toBase58()),
    );
    expect([...(message.addressTableLookups[0]?.writableIndexes ?? [])]).toEqual([1]);
    expect(VersionedMessage.deserialize(encodeMessage(message)).version).toBe(0);
  });

  it('rejects trailing bytes', () => {
    const { legacy, v0 } = oracleMessages();
    for (const bytes of [legacy, v0.serialize()]) {
      expect(faultIn(Uint8Array.from([...bytes, 0]))).toBe('Trailing bytes remain after deserialization');
    }
  });

  it('rejects truncation at any byte', () => {
    const bytes = oracleMessages().v0.serialize();
    for (let length = 0; length < bytes.length; length++) {
      expect(faultIn(bytes.subarray(0, length))).toMatch(/^Attempting to read \d+ bytes$/);
    }
  });

  it('rejects other versions', () => {
    const bytes = oracleMessages().v0.serialize();
    expect(faultIn(Uint8Array.from([0x81, ...bytes.subarray(1)]))).toBe('Invalid tag encoding: 1');
    expect(faultIn(Uint8Array.from([0xff, ...bytes.subarray(1)]))).toBe('Invalid tag encoding: 127');
  });
});
