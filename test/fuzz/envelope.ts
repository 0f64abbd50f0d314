import { Failure } from '../../src/protocol/errors.ts';
import { decodeEnvelope, type EnvelopeItem } from '../../src/protocol/request-envelope.ts';

export const from = 'clients';
export const covers = ['base/json-scan.ts', 'protocol/request-envelope.ts'];

const ALLOWED = new Set(['PARSE_ERROR', 'BATCH_TOO_LARGE']);

export const seeds = [
  '{"jsonrpc":"2.0","id":18446744073709551615,"method":"getBlock","params":[5,{"a":null}]}',
  '[{"jsonrpc":"2.0","id":"a\\u0041","method":"getSlot"},{"method":"x"},{"id":null,"method":"x"}]',
  '{"jsonrpc":"2.0","id":1,"method":"getAsset","params":{"id":"x"}}',
].map((text) => Buffer.from(text));

function check(item: EnvelopeItem): void {
  if (item.kind === 'notification') return;
  const id: unknown = JSON.parse(item.id.toString());
  if (id !== null && typeof id !== 'number' && typeof id !== 'string')
    throw new Error(`illegal id ${item.id}`);
  if (item.kind === 'call' && item.params !== null) {
    const params: unknown = JSON.parse(item.params.toString());
    if (typeof params !== 'object' || params === null) throw new Error(`illegal params ${item.params}`);
  }
}

/** Whatever the bytes: a failure of the two rows, or items that are what they say. */
export function fuzz(bytes: Uint8Array): boolean {
  try {
    const { batch, items } = decodeEnvelope(Buffer.from(bytes));
    JSON.parse(Buffer.from(bytes).toString());
    if (!batch && items.length !== 1) throw new Error(`${items.length} items outside a batch`);
    items.forEach(check);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof Failure) || !ALLOWED.has(thrown.code)) throw thrown;
    return false;
  }
}
