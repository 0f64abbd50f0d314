import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Product, products } from '../../protocol/product.ts';
import { API_KEY_LENGTH_MAX, digestApiKey, generateApiKey, parseApiKey } from './api-key.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const every = Object.keys(products) as Product[];

/** The checksum is Python's: zlib.crc32 of the first 53 characters is 0xb08b4e71, here in base58. */
const VECTOR = 'svc_rpc_live_11111111222222222222222222222222222222225WjcWL';

describe('API key', () => {
  it.each(every)('of product %s parses to its product and id', (product) => {
    const { text, id } = generateApiKey(product);
    expect(text.startsWith(products[product].prefix + id)).toBe(true);
    expect(text).toHaveLength(products[product].prefix.length + 46);
    expect(text.length).toBeLessThanOrEqual(API_KEY_LENGTH_MAX);
    expect(parseApiKey(text)).toEqual({ product, id });
  });

  it('has a standard CRC-32 checksum', () => {
    expect(parseApiKey(VECTOR)).toEqual({ product: 'rpc', id: '11111111' });
  });

  it('is rejected with any character changed', () => {
    const { text } = generateApiKey('rpc');
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom(...ALPHABET, '0', 'O', 'l', 'I', '_', ' '),
        (at, other) => {
          fc.pre(text[at] !== other);
          const changed = text.slice(0, at) + other + text.slice(at + 1);
          expect(['pattern', 'checksum']).toContain(parseApiKey(changed));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each(['', `${VECTOR} `, `${VECTOR}\n`, 'x'.repeat(1e6)])('rejects %j by its pattern', (text) => {
    expect(parseApiKey(text)).toBe('pattern');
  });

  it('is unique and uses the whole alphabet', () => {
    const keys = Array.from({ length: 1_000 }, () => generateApiKey('fs').text);
    expect(new Set(keys).size).toBe(1_000);
    const random = keys.map((text) => text.slice(products.fs.prefix.length, -6)).join('');
    expect([...new Set(random)].sort().join('')).toBe(ALPHABET);
  });

  it('is stored as an HMAC-SHA-256 under the pepper', () => {
    const pepper = Buffer.alloc(32, 7);
    const expected = createHmac('sha256', pepper).update(VECTOR).digest();
    expect(digestApiKey(VECTOR, pepper)).toEqual(expected);
    expect(digestApiKey(VECTOR, Buffer.alloc(32, 8))).not.toEqual(expected);
  });
});
