import { cacheFile, parseCacheFile } from '../../src/upstream/off-chain/disk-cache.ts';

export const from = 'the disk';
export const covers = ['upstream/off-chain/disk-cache.ts'];

const URI = 'https://a.example/é.json';

export const seeds: readonly Uint8Array[] = [
  cacheFile(URI, { document: Buffer.from('{"a":1}'), until: 1_700_000_000_000 }),
  cacheFile(URI, { document: null, until: 5 }),
  cacheFile('https://b.example/', { document: Buffer.from('x\ny'), until: 5 }),
];

/** A file keeps what was written into it, whole, or nothing: one that is read is the one that would be written. */
export function fuzz(bytes: Uint8Array): boolean {
  const stored = parseCacheFile(Buffer.from(bytes), URI);
  if (stored === null) return false;
  const again = parseCacheFile(cacheFile(URI, stored), URI);
  const isSame = again?.until === stored.until && again.document?.toString() === stored.document?.toString();
  if (!isSame) throw new Error('a document changes when it is written again');
  return true;
}
