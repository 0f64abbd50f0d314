import { locateAnswer } from '../../src/upstream/answer.ts';

const ID = 7;
const AGAVE_ORDER = /^\{"jsonrpc":"2\.0","(?:result|error)":/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

type Envelope = { id?: unknown; result?: unknown; error?: { code?: unknown } | null };

/** The located bytes must be what JSON.parse finds under that name. */
function check(body: Buffer, errorCode: number, envelope: Envelope): void {
  const expected = errorCode === 0 ? envelope.result : envelope.error;
  if (JSON.stringify(parse(body)) !== JSON.stringify(expected)) throw new Error('located the wrong bytes');
  if (errorCode !== 0 && envelope.error?.code !== errorCode) throw new Error('read the wrong code');
  if (envelope.id !== ID && envelope.id !== null) throw new Error('took an answer to another request');
}

/**
 * Whatever a node sends: no exception, never an answer out of text that is not JSON (but for the order that is
 * known by its ends alone), and what is located is what JSON.parse finds.
 */
export function target(bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes);
  const answer = locateAnswer(buffer, ID);
  if (answer === null) return;
  const envelope = parse(bytes) as Envelope | undefined;
  const byEnds = AGAVE_ORDER.test(buffer.toString('latin1'));
  if (envelope === undefined) {
    if (!byEnds && isUtf8(bytes)) throw new Error('found an answer in what is not JSON');
    return;
  }
  // Two members of one name: by the ends alone both are seen as one; no node writes that.
  if (byEnds && parse(answer.body) === undefined) return;
  check(answer.body, answer.errorCode, envelope);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
