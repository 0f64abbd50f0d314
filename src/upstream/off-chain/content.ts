import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { Semaphore } from '../../base/concurrency/semaphore.ts';

/** Media types under which JSON is found in practice; what is inside is looked at besides. */
const TYPES =
  /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:json|plain)|(?:application|binary)\/octet-stream)$/;

/** Media types that are asked for. */
export const ACCEPT = 'application/json, text/plain;q=0.9, application/octet-stream;q=0.5';
/** Content codings that are understood. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

const ZLIB_METHOD = 8;
/** Decompression under way: each has windows of its own, which may be larger than what comes out. */
const DECOMPRESSIONS_MAX = 4;
const decompressions = new Semaphore(DECOMPRESSIONS_MAX);

type Decompress = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gzipped: Decompress = promisify(gunzip);
const brotli: Decompress = promisify(brotliDecompress);
const zlib: Decompress = promisify(inflate);
const raw: Decompress = promisify(inflateRaw);
/** Some send `deflate` without the zlib around it that RFC 9110 §8.4.1.2 asks for. */
const deflated: Decompress = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === ZLIB_METHOD ? zlib(bytes, options) : raw(bytes, options);

const decompressors: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', gzipped],
  ['x-gzip', gzipped],
  ['br', brotli],
  ['deflate', deflated],
]);

/** Whether a Content-Type header may stand over JSON; absent it may. */
export const mayBeJson = (type: string | undefined): boolean =>
  type === undefined || TYPES.test((type.split(';')[0] ?? '').trim().toLowerCase());

/**
 * The bytes without their Content-Encoding.
 * @returns null for an unknown coding, several of them, damaged bytes, or more than `maxBytes`.
 */
export async function decoded(
  bytes: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | null> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return bytes;
  const decompress = decompressors.get(name);
  if (decompress === undefined) return null;
  try {
    return await decompressions.run(() => decompress(bytes, { maxOutputLength: maxBytes }));
  } catch {
    return null;
  }
}
