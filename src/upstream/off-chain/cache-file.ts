import { createHash } from 'node:crypto';
import type { CachedDocument } from './document-memory-cache.ts';

/**
 * How a document stands in a file: a line of JSON that says what it is, then the document as it is. The line names the
 * URI, and has the length and the digest of what follows, so that a file that was cut off or damaged is known.
 */

const FORMAT = 1;
const NEWLINE = 0x0a;
/** A character of a URI that is escaped, as in `\u0001`; none takes more in UTF-8. */
const CHARACTER_MAX_BYTES = 6;
/** `{"format":1,…}` without the URI: numbers and a digest. */
const HEAD_FIXED_MAX_BYTES = 512;

/** What the line of a URI takes at most, with its end. */
export const cacheHeadMaxBytes = (uri: string): number =>
  HEAD_FIXED_MAX_BYTES + uri.length * CHARACTER_MAX_BYTES;

/** SHA-256 in hex: what a document's file is called, and what proves it whole. */
export const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

type Head = Readonly<{
  format: number;
  uri: string;
  until: number;
  bytes: number | null;
  sha256: string | null;
}>;

/** The bytes of a file. */
export function cacheFile(uri: string, { document, until }: CachedDocument): Buffer {
  const [bytes, digest] = document === null ? [null, null] : [document.length, sha256(document)];
  const head: Head = { format: FORMAT, uri, until, bytes, sha256: digest };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), document ?? Buffer.alloc(0)]);
}

function headOf(line: Buffer): Partial<Head> | null {
  try {
    const head: unknown = JSON.parse(line.toString('utf8'));
    return head !== null && typeof head === 'object' ? head : null;
  } catch {
    return null;
  }
}

/** What a file keeps of the URI; null when it is damaged, of another format, or another URI's. */
export function parseCacheFile(file: Buffer, uri: string): CachedDocument | null {
  const end = file.indexOf(NEWLINE);
  const head = end < 0 || end >= cacheHeadMaxBytes(uri) ? null : headOf(file.subarray(0, end));
  if (head?.format !== FORMAT || head.uri !== uri || !Number.isSafeInteger(head.until)) return null;
  const until = Number(head.until);
  const body = file.subarray(end + 1);
  if (head.bytes === null) return body.length === 0 ? { document: null, until } : null;
  if (head.bytes !== body.length || head.sha256 !== sha256(body)) return null;
  return { document: body, until };
}
