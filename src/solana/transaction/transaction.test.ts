import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Transaction as Oracle, Keypair as OracleKeypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { decoded, faultIn } from '../../../test/solana/decoded-transaction.ts';
import { verifyTransaction } from '../ed25519.ts';
import { encodeMessage, type LoadedAddresses, type Message } from '../message/message.ts';
import { signatureBytes } from '../signature.ts';
import { encodeTransaction } from './encode-transaction.ts';
import { accountLocksFault, sanitizeTransaction } from './sanitize-transaction.ts';
import type { Transaction } from './transaction.ts';

const data = join(import.meta.dirname, '../../../../shared/data/transactions');
const INSANE = 'Transaction failed to sanitize accounts offsets correctly';

function oracleTransfer(): Oracle {
  const payer = OracleKeypair.generate();
  const transaction = new Oracle({
    recentBlockhash: PublicKey.unique().toBase58(),
    feePayer: payer.publicKey,
  });
  transaction.add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: PublicKey.unique(), lamports: 1 }),
  );
  transaction.sign(payer);
  return transaction;
}

const encoded = (transaction: Transaction): Uint8Array =>
  encodeTransaction(transaction.signatures.map(signatureBytes), encodeMessage(transaction.message));

function changed(change: (message: Message) => Partial<Message>): Transaction {
  const transaction = decoded(oracleTransfer().serialize());
  return { ...transaction, message: { ...transaction.message, ...change(transaction.message) } };
}

describe('transaction codec', () => {
  it('matches web3.js', () => {
    const oracle = oracleTransfer();
    const transaction = decoded(oracle.serialize());
    expect(signatureBytes(transaction.signatures[0]!)).toEqual(Uint8Array.from(oracle.signature!));
    expect([...transaction.messageBytes]).toEqual([...oracle.serializeMessage()]);
    expect([...encoded(transaction)]).toEqual([...oracle.serialize()]);
    expect(verifyTransaction(transaction)).toBe(true);
    expect(sanitizeTransaction(transaction)).toBeNull();
  });

  it('rejects truncation and trailing bytes', () => {
    const wire = Uint8Array.from(oracleTransfer().serialize());
    for (let length = 0; length < wire.length; length++) {
      expect(faultIn(wire.subarray(0, length))).toMatch(/^Attempting to read \d+ bytes$/);
    }
    expect(faultIn(Uint8Array.from([...wire, 0]))).toBe('Trailing bytes remain after deserialization');
  });

  it('rejects an unknown version', () => {
    expect(faultIn(Uint8Array.of(0x82, 1, 0, 1))).toBe('Custom error: invalid transaction discriminator');
  });

  it('rejects more than 1232 bytes', () => {
    expect(faultIn(new Uint8Array(1233))).toBe('transaction too large: 1233 bytes (max: 1232)');
  });

  it('rejects a signature of another size', () => {
    expect(() => encodeTransaction([new Uint8Array(63)], new Uint8Array())).toThrow(RangeError);
  });
});

describe('sanitizeTransaction', () => {
  it('requires the signatures of the header', () => {
    const transaction = decoded(oracleTransfer().serialize());
    const signature = transaction.signatures[0]!;
    expect(sanitizeTransaction({ ...transaction, signatures: [] })).toBe(INSANE);
    expect(sanitizeTransaction({ ...transaction, signatures: [signature, signature] })).toBe(INSANE);
  });

  it.each<[string, (message: Message) => Partial<Message>]>([
    ['keys for its header', ({ header }) => ({ header: { ...header, numReadonlyUnsignedAccounts: 3 } })],
    ['a writable fee payer', ({ header }) => ({ header: { ...header, numReadonlySignedAccounts: 1 } })],
    ['account keys', () => ({ accountKeys: [] })],
    ['a fee payer that is not a program', () => withInstruction({ programIdIndex: 0 })],
    ['a known program', () => withInstruction({ programIdIndex: 3 })],
    ['known accounts', () => withInstruction({ accounts: Uint8Array.of(0, 3) })],
    ['a program from no table', () => ({ ...withInstruction({ programIdIndex: 3 }), ...withLookup(2) })],
    ['a use for every table', () => withLookup(0)],
    ['at most 256 keys', () => withLookup(254)],
    ['at most 64 instructions', (message) => ({ instructions: Array(65).fill(message.instructions[0]) })],
  ])('requires %s', (_condition, change) => {
    expect(sanitizeTransaction(changed(change))).toBe(INSANE);
  });

  it('allows accounts from tables and 256 keys', () => {
    expect(
      sanitizeTransaction(
        changed(() => ({ ...withInstruction({ accounts: Uint8Array.of(255) }), ...withLookup(253) })),
      ),
    ).toBeNull();
  });
});

function withInstruction(change: Partial<Message['instructions'][number]>): Partial<Message> {
  return {
    instructions: [{ programIdIndex: 2, accounts: Uint8Array.of(0, 1), data: new Uint8Array(), ...change }],
  };
}

function withLookup(indexes: number): Partial<Message> {
  const accountKey = decoded(oracleTransfer().serialize()).message.accountKeys[0]!;
  const lookup = { accountKey, writableIndexes: new Uint8Array(indexes), readonlyIndexes: new Uint8Array() };
  return { version: 0, addressTableLookups: [lookup] };
}

describe('account locks', () => {
  const keysOf = (count: number) =>
    Array.from({ length: count }, () => decoded(oracleTransfer().serialize()).message.accountKeys[0]!);
  const { message } = changed(() => ({}));
  const none: LoadedAddresses = { writable: [], readonly: [] };

  it('must be distinct, static and loaded', () => {
    const [first] = message.accountKeys;
    expect(accountLocksFault(message, none)).toBeNull();
    expect(accountLocksFault(message, { writable: [], readonly: [first!] })).toBe('AccountLoadedTwice');
  });

  it('are at most 128', () => {
    expect(accountLocksFault(message, { writable: keysOf(125), readonly: [] })).toBeNull();
    expect(accountLocksFault(message, { writable: keysOf(126), readonly: [] })).toBe('TooManyAccountLocks');
  });
});

describe.skipIf(!existsSync(data))('transactions of shared/data/transactions', () => {
  const files = readdirSync(existsSync(data) ? data : import.meta.dirname).filter((file) =>
    file.endsWith('.bin'),
  );

  it.each(files)('%s is decoded, sanitized and encoded again', (file) => {
    const wire = Uint8Array.from(readFileSync(join(data, file)));
    const transaction = decoded(wire);
    expect([...encoded(transaction)]).toEqual([...wire]);
    expect(sanitizeTransaction(transaction)).toBe(file === 'ballet-transaction5.bin' ? INSANE : null);
    const unsigned = ['ballet-transaction3.bin', 'ballet-transaction5.bin'].includes(file);
    expect(verifyTransaction(transaction)).toBe(!unsigned);
  });
});
