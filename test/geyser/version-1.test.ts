import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { encodeWireTransaction } from '../../src/protocol/geyser/storage/encode-transaction.ts';
import { readTransaction } from '../../src/protocol/geyser/update/transaction.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { encodeMessage } from '../../src/solana/message/message.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { key } from './arbitrary.ts';

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const u32 = fc.nat(0xffff_ffff);
const short = fc.uint8Array({ maxLength: 20 });

const wire = fc
  .record({
    signatures: fc.array(fc.uint8Array({ minLength: 64, maxLength: 64 }), { maxLength: 3 }),
    keys: fc.array(key, { maxLength: 5 }),
    blockhash: key,
    instructions: fc.array(fc.record({ programIdIndex: fc.nat(255), accounts: short, data: short })),
    config: fc.record({
      priorityFee: optional(fc.bigInt(0n, 2n ** 64n - 1n)),
      computeUnitLimit: optional(u32),
      loadedAccountsDataSizeLimit: optional(u32),
      heapSize: optional(u32),
    }),
  })
  .map(({ signatures, keys, blockhash, instructions, config }) =>
    encodeTransaction(
      signatures,
      encodeMessage({
        version: 1,
        header: {
          numRequiredSignatures: signatures.length,
          numReadonlySignedAccounts: 1,
          numReadonlyUnsignedAccounts: 2,
        },
        accountKeys: keys.map(addressFromBytes),
        recentBlockhash: blockhashFromBytes(blockhash),
        instructions,
        addressTableLookups: [],
        config,
      }),
    ),
  );

it('is the same transaction after a round trip through protobuf', () => {
  fc.assert(
    fc.property(wire, (bytes) => {
      const { transaction } = encodeWireTransaction(bytes);
      expect(readTransaction(new ProtobufReader(transaction)).wire).toEqual(bytes);
    }),
  );
});

// The installed published codec does not know the configuration.
it('has its configuration in field 7 of the message, with an explicit 0', () => {
  const header = { numRequiredSignatures: 0, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 };
  const config = { priorityFee: 0n, computeUnitLimit: null, loadedAccountsDataSizeLimit: 7, heapSize: null };
  const message = encodeMessage({
    version: 1,
    header,
    accountKeys: [],
    recentBlockhash: blockhashFromBytes(new Uint8Array(32)),
    instructions: [],
    addressTableLookups: [],
    config,
  });
  const { transaction } = encodeWireTransaction(encodeTransaction([], message));
  // versioned: true, then {1: 0, 3: 7}.
  expect(Buffer.from(transaction).toString('hex')).toMatch(/28013a0408001807$/);
});
