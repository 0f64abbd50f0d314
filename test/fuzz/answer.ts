import { locateResponse } from '../../src/upstream/response/parse-response.ts';

export const from = 'nodes';
export const covers = ['upstream/response/parse-response.ts'];

const ID = 7;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

type Envelope = { id?: unknown; result?: unknown; error?: { code?: unknown } | null };

/** The located bytes must be what JSON.parse finds under that name, and its sister must not be filled. */
function check(body: Buffer, errorCode: number, envelope: Envelope): void {
  const [expected, sister] =
    errorCode === 0 ? [envelope.result, envelope.error] : [envelope.error, envelope.result];
  if (JSON.stringify(parse(body)) !== JSON.stringify(expected)) throw new Error('located the wrong bytes');
  if (sister !== undefined && sister !== null) throw new Error('chose between a result and an error');
  if (errorCode !== 0 && envelope.error?.code !== errorCode) throw new Error('read the wrong code');
  if (envelope.id !== ID && (errorCode === 0 || envelope.id !== null)) {
    throw new Error('took an answer to another request');
  }
}

/** Answers to mutate, in the orders that nodes write. */
export const seeds: readonly Uint8Array[] = [
  '{"jsonrpc":"2.0","result":{"context":{"slot":1},"value":[1.5e3,"\\u00e9",true,null]},"id":7}\n',
  '{"jsonrpc":"2.0","id":7,"result":{"a":[{}, [], "x"]}}',
  '{"jsonrpc":"2.0","error":{"code":-32005,"message":"m","data":{"numSlotsBehind":null}},"id":7}',
  ' { "id" : 7 , "error" : null , "result" : 18446744073709551615 } ',
  '{"jsonrpc":"2.0","result":null,"error":{"code":-32005,"message":"m"},"id":7}',
  '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}',
].map((text) => Buffer.from(text));

/**
 * Whatever a node sends: no exception, never an answer out of text that is not JSON, and what is located is what
 * JSON.parse finds. Holds for answers up to a few kilobytes; large ones may be known by their ends.
 * @returns whether an answer was found.
 */
export function fuzz(bytes: Uint8Array): boolean {
  const answer = locateResponse(Buffer.from(bytes), ID);
  if (answer === null) return false;
  const envelope = parse(bytes) as Envelope | undefined;
  if (envelope === undefined) throw new Error('found an answer in what is not JSON');
  check(answer.body, answer.errorCode, envelope);
  return true;
}
