import { generateApiKey, parseApiKey } from '../../src/gateway/auth/api-key.ts';
import { products } from '../../src/protocol/product.ts';

export const from = 'clients';
export const covers = ['gateway/auth/api-key.ts'];

const GOOD = generateApiKey('rpc').text;

export const seeds = [Buffer.from(GOOD), Buffer.from(generateApiKey('grpc').text)];

/** No text is taken for a key but one with the right checksum; a damaged key never passes. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const parsed = parseApiKey(text);
  if (typeof parsed !== 'string' && !text.startsWith(`${products[parsed.product].prefix}${parsed.id}`)) {
    throw new Error(`read ${parsed.product} and ${parsed.id} out of another key`);
  }
  for (let i = 0; i + 1 < bytes.length; i += 2) {
    const at = (bytes[i] as number) % GOOD.length;
    const damaged = GOOD.slice(0, at) + String.fromCharCode(bytes[i + 1] as number) + GOOD.slice(at + 1);
    if (damaged !== GOOD && typeof parseApiKey(damaged) !== 'string') {
      throw new Error(`a damaged key passed, character ${at}`);
    }
  }
  return typeof parsed !== 'string';
}
