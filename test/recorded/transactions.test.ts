import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyTransaction } from '../../src/solana/ed25519.ts';
import { encodeMessage } from '../../src/solana/message/message.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { sanitizeTransaction } from '../../src/solana/transaction/sanitize-transaction.ts';
import type { Transaction } from '../../src/solana/transaction/transaction.ts';
import { kitValues, ourValues } from './kit-values.ts';

/** Needs ../shared/data/transactions; two are odd on purpose (see its README). */
const folder = join(import.meta.dirname, '../../../shared/data/transactions');
const present = existsSync(folder);
const files = present ? readdirSync(folder).filter((file) => file.endsWith('.bin')) : [];

/** Maximum message size, unsigned. */
const UNSIGNED = 'ballet-transaction3.bin';
/** 26 empty lookups, which no node accepts; kit decodes it. */
const EMPTY_LOOKUPS = 'ballet-transaction5.bin';

function decoded(file: string): Transaction {
  const result = decodeTransaction(readFileSync(join(folder, file)));
  if ('fault' in result) throw new Error(result.fault);
  return result.transaction;
}

describe.skipIf(!present)('recorded transactions (../shared/data, transactions)', () => {
  it('are all present', () => {
    expect(files).toHaveLength(13);
    expect(files).toEqual(expect.arrayContaining([UNSIGNED, EMPTY_LOOKUPS]));
  });

  it.each(files)('%s matches kit', (file) => {
    expect(ourValues(decoded(file))).toEqual(kitValues(readFileSync(join(folder, file))));
  });

  it.each(files)('%s round-trips', (file) => {
    const { signatures, message, wire } = decoded(file);
    const again = encodeTransaction(signatures.map(signatureBytes), encodeMessage(message));
    expect(Buffer.from(again).equals(wire)).toBe(true);
  });

  it.each(files.filter((file) => file !== UNSIGNED && file !== EMPTY_LOOKUPS))(
    '%s is sane and signed',
    (file) => {
      const transaction = decoded(file);
      expect(sanitizeTransaction(transaction)).toBeNull();
      expect(verifyTransaction(transaction)).toBe(true);
    },
  );

  it('are rejected when invalid or unsigned', () => {
    expect(sanitizeTransaction(decoded(UNSIGNED))).toBeNull();
    expect(verifyTransaction(decoded(UNSIGNED))).toBe(false);
    const lookups = decoded(EMPTY_LOOKUPS).message.addressTableLookups;
    const lookedUp = lookups.map((lookup) => [...lookup.writableIndexes, ...lookup.readonlyIndexes]);
    expect(lookedUp).toEqual(Array(26).fill([]));
    expect(sanitizeTransaction(decoded(EMPTY_LOOKUPS))).toBe(
      'Transaction failed to sanitize accounts offsets correctly',
    );
  });

  // kit ignores trailing bytes and takes a missing length for 0.
  it.each(files)('%s is rejected with a byte missing or added', (file) => {
    const wire = readFileSync(join(folder, file));
    expect(decodeTransaction(wire.subarray(0, -1))).toEqual({
      fault: expect.stringMatching(/^Attempting to read \d+ bytes$/),
    });
    expect(decodeTransaction(Buffer.concat([wire, Buffer.of(0)]))).toEqual({
      fault: 'Trailing bytes remain after deserialization',
    });
  });
});
