import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Failure } from '../../src/protocol/errors.ts';
import { readUpload } from '../../src/servers/rest/multipart.ts';

export const from = 'clients';
export const covers = ['servers/rest/multipart.ts'];

const body = (...lines: readonly string[]): string => lines.join('\r\n');
const disposition = 'content-disposition: form-data; name="file"';

/** Bodies of the boundary `b`. The first byte is the length of the pieces they come in. */
export const seeds: readonly Uint8Array[] = [
  body('--b', disposition, 'content-type: application/octet-stream', '', 'bytes\r\n\0\xff', '--b--', ''),
  body('--b', `${disposition}; filename="a.png"`, 'content-type: image/png', '', 'x', '--b--'),
  body(
    '--b',
    'content-disposition: form-data; name="x"',
    '',
    'y',
    '--b',
    disposition,
    '',
    'z',
    '--b--',
    'end',
  ),
  body('before', '--b', `${disposition}; filename*=utf-8''%D0%B6`, '', '', '--b--', ''),
  body('--b', disposition, '', 'one', '--b', disposition, '', 'two', '--b--', ''),
  body('--b', disposition, '', 'no end'),
  body('', '--b-', '--b', disposition, '', '', '--b--'),
].map((text, index) => Buffer.concat([Buffer.of(index * 3), Buffer.from(text, 'latin1')]));

const limits = {
  fileMaxBytes: 2_000,
  besideMaxBytes: 2_000,
  partsMax: 5,
  partHeadersMax: 5,
  partHeadersMaxBytes: 500,
};

/** What comes of a body in pieces of that length. */
async function outcomeOf(bytes: Uint8Array, length: number): Promise<{ text: string; isWhole: boolean }> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += length) pieces.push(Buffer.from(bytes.subarray(at, at + length)));
  const request = Object.assign(Readable.from(pieces, { objectMode: false }), {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  const response = new EventEmitter();
  try {
    const file = await readUpload(request as unknown as IncomingMessage, response as ServerResponse, limits);
    const read: Uint8Array[] = [];
    for await (const piece of file.bytes) read.push(piece);
    return { text: `${file.name} ${file.type} ${Buffer.concat(read).toString('hex')}`, isWhole: true };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { text: error.code, isWhole: false };
  } finally {
    response.emit('close');
    request.destroy();
  }
}

/** The same comes out, wherever the pieces begin and end. @returns whether nothing was refused. */
export async function fuzz(input: Uint8Array): Promise<boolean> {
  const [length = 0] = input;
  const bytes = input.subarray(1);
  const inOne = await outcomeOf(bytes, Math.max(1, bytes.length));
  const inPieces = await outcomeOf(bytes, length + 1);
  if (inOne.text !== inPieces.text) throw new Error(`pieces change ${inOne.text} into ${inPieces.text}`);
  return inOne.isWhole;
}
