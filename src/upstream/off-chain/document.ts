import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { type JsonValue, parseJson } from '../../base/json.ts';
import { isJson } from '../../base/json-scan.ts';
import type { OffChainLimits } from './limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const ARRAY_OPEN = 0x5b;
const OBJECT_OPEN = 0x7b;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Upper bound on the number of values: each value except the first needs a comma or an opening bracket. */
function countValues(bytes: Uint8Array): number {
  let count = 1;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COMMA || byte === ARRAY_OPEN || byte === OBJECT_OPEN) count++;
  }
  return count;
}

/** Strips a byte order mark. @returns null if the bytes are not UTF-8 JSON or exceed the limits. Takes linear time. */
export function documentIn(bytes: Buffer, limits: OffChainLimits): Buffer | null {
  const text = bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
  if (text.length === 0 || text.length > limits.documentMaxBytes || !isUtf8(text)) return null;
  if (!isJson(text, limits.depthMax) || countValues(text) > limits.valuesMax) return null;
  return text;
}

export const parseDocument = (document: Buffer): JsonValue => parseJson(document.toString('utf8'));

/** Media types used for JSON in practice; the content is checked too. */
const TYPES =
  /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:json|plain)|(?:application|binary)\/octet-stream)$/;

export const ACCEPT = 'application/json, text/plain;q=0.9, application/octet-stream;q=0.5';
export const ACCEPT_ENCODING = 'gzip, deflate, br';

const ZLIB_METHOD = 8;
/** Limits concurrent decompressions: each needs memory for its window, which may be larger than the output. */
const DECOMPRESSIONS_MAX = 4;
const decompressions = new Semaphore(DECOMPRESSIONS_MAX);

type Decompress = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gzipped: Decompress = promisify(gunzip);
const zlib: Decompress = promisify(inflate);
const raw: Decompress = promisify(inflateRaw);
/** Some hosts send `deflate` without the zlib wrapper required by RFC 9110 §8.4.1.2. */
const deflated: Decompress = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === ZLIB_METHOD ? zlib(bytes, options) : raw(bytes, options);

const decompressors: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', gzipped],
  ['x-gzip', gzipped],
  ['br', promisify(brotliDecompress)],
  ['deflate', deflated],
]);

export const mayBeJson = (type: string | undefined): boolean =>
  type === undefined || TYPES.test((type.split(';')[0] ?? '').trim().toLowerCase());

/** @returns null for an unknown encoding, several encodings, damaged data, or output larger than `maxBytes`. */
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

/** A document, or null if it is known to be absent. Expires at `until` (Unix milliseconds). */
export type CachedDocument = Readonly<{ document: Buffer | null; until: number }>;

const ENTRY_BYTES = 256;
const BYTES_PER_CHARACTER = 2;

const sizeOf = (uri: string, { document }: CachedDocument): number =>
  ENTRY_BYTES + uri.length * BYTES_PER_CHARACTER + (document?.length ?? 0);

export class DocumentMemoryCache {
  readonly #entries = new Map<string, CachedDocument>();
  readonly #maxBytes: number;
  readonly #now: () => number;
  bytes = 0;

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  get(uri: string): CachedDocument | null {
    const cached = this.#entries.get(uri);
    if (cached === undefined) return null;
    this.delete(uri);
    if (cached.until <= this.#now()) return null;
    this.#insert(uri, cached);
    return cached;
  }

  set(uri: string, cached: CachedDocument): void {
    this.delete(uri);
    this.#insert(uri, cached);
    for (const oldest of this.#entries.keys()) {
      if (this.bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(uri: string): void {
    const cached = this.#entries.get(uri);
    if (cached === undefined) return;
    this.#entries.delete(uri);
    this.bytes -= sizeOf(uri, cached);
  }

  #insert(uri: string, cached: CachedDocument): void {
    this.#entries.set(uri, cached);
    this.bytes += sizeOf(uri, cached);
  }
}
