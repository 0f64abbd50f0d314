import { parseMetadata, sanitizeMetadata, serializeMetadata } from '../../src/control/storage/file-store.ts';
import { mediaTypeOf } from '../../src/control/storage/upload-spool.ts';

export const from = 'clients and the disk';
export const covers = ['control/storage/file-store.ts'];

/** What is written about a file; or its name, a line break, and its type. */
export const seeds: readonly Uint8Array[] = [
  serializeMetadata({ name: 'picture.png', type: 'image/png' }),
  serializeMetadata({ name: null, type: 'text/plain; charset=utf-8' }),
  'C:\\a\u202e/gnp.exe\nimage/svg+xml;a=b',
  '..\nx/y\r\nz: 1',
  '\x89PNG\r\n\x1a\n',
].map((text) => Buffer.from(text, 'latin1'));

const isFit = (name: string | null, type: string): boolean =>
  (name === null || !/[\p{Cc}/\\]/u.test(name)) && /^[\x20-\x7e]+$/.test(type);

/** What is kept of a file's facts may stand in a header, and round-trips through its serialized form. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString();
  const [name = '', type = ''] = text.split('\n');
  for (const about of [sanitizeMetadata({ name, type }), parseMetadata(text)]) {
    if (!isFit(about.name, about.type)) throw new Error('facts that no header can hold');
    const again = parseMetadata(serializeMetadata(about));
    if (again.name !== about.name || again.type !== about.type)
      throw new Error('read otherwise than written');
  }
  return mediaTypeOf(bytes) !== null || parseMetadata(text).name !== null;
}
