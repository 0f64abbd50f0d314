import { decodeEnvelope, type EnvelopeItem } from '../../src/protocol/envelope.ts';
import { Failure } from '../../src/protocol/errors.ts';

const ALLOWED = new Set(['PARSE_ERROR', 'BATCH_TOO_LARGE']);

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
export function target(bytes: Uint8Array): void {
  try {
    const { batch, items } = decodeEnvelope(Buffer.from(bytes));
    JSON.parse(Buffer.from(bytes).toString());
    if (!batch && items.length !== 1) throw new Error(`${items.length} items outside a batch`);
    items.forEach(check);
  } catch (thrown) {
    if (!(thrown instanceof Failure) || !ALLOWED.has(thrown.code)) throw thrown;
  }
}
