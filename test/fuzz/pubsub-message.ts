import { isUtf8 } from 'node:buffer';
import { readNodeMessage } from '../../src/upstream/feeds/pubsub-message.ts';

export const from = 'nodes';
export const covers = ['upstream/feeds/pubsub-message.ts'];

export const seeds = [
  '{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"slot":3,"parent":2,"root":0},"subscription":0}}',
  '{"params":{"subscription":4743323479349712,"result":[1.5e3,"\\u00e9",null]},"method":"x","jsonrpc":"2.0"}',
  '{"jsonrpc":"2.0","result":23784,"id":5}',
  '{"jsonrpc":"2.0","error":{"code":-32602,"message":"m","data":null},"id":5}',
].map((text) => Buffer.from(text));

type Parsed = {
  id?: unknown;
  result?: unknown;
  error?: unknown;
  params?: { result?: unknown; subscription?: unknown };
};

const same = (bytes: Buffer, value: unknown): boolean =>
  JSON.stringify(JSON.parse(bytes.toString())) === JSON.stringify(value);

/** Whatever a node sends: no exception, and what is found is what JSON.parse finds. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes);
  if (!isUtf8(text)) return false;
  const message = readNodeMessage(text);
  if (message === null) return false;
  const parsed = JSON.parse(text.toString()) as Parsed;
  if (message.kind === 'notification') {
    if (!same(message.result, parsed.params?.result)) throw new Error('found another result');
    const id = typeof message.id === 'string' ? JSON.parse(message.id) : message.id;
    if (JSON.stringify(id) !== JSON.stringify(parsed.params?.subscription))
      throw new Error('found another id');
  } else {
    if (message.id !== parsed.id) throw new Error('took an answer to another request');
    if (!same(message.body, message.errorCode === 0 ? parsed.result : parsed.error)) {
      throw new Error('found another body');
    }
  }
  return true;
}
