import { z } from 'zod';
import { readScannerKey } from '../../control/keys/leaked-keys.ts';
import { section, text } from '../field-types.ts';

/** Keys of secret scanners that may report leaks. */
const SCANNER_KEYS_MAX = 32;

const scannerKey = section({
  id: text(/^[A-Za-z0-9._-]{1,128}$/, 'the id of a public key, as the scanner names it'),
  pem: z.custom<string>((value) => typeof value === 'string' && readScannerKey(value) !== null, {
    error: 'must be a public key of P-256 in PEM: -----BEGIN PUBLIC KEY-----',
  }),
});

/** Who may report leaked keys: the public keys of secret scanners. */
export const scannerKeys = z
  .array(scannerKey, {
    error: 'is not a list of tables: write each key under its own [[keys.scanner_keys]]',
  })
  .max(SCANNER_KEYS_MAX, { error: `has more than ${SCANNER_KEYS_MAX} keys` })
  .default([]);
