import { isUtf8 } from 'node:buffer';
import type { ResponseHandler, RpcResponse } from '../../src/protocol/call.ts';
import { CallKeys } from '../../src/upstream/middleware/call-key.ts';
import { RedisCache, type ResponseStore } from '../../src/upstream/middleware/redis-cache.ts';
import { FinalizedRoots } from '../../src/upstream/middleware/response-cache.ts';
import { ResponseCounts } from '../../src/upstream/middleware/response-counts.ts';
import { callOf, resultOf, ScriptedDispatcher, ScriptedSlots } from '../upstream/mock/scripted-dispatcher.ts';

export const from = 'Redis, where others may write';
export const covers = ['upstream/middleware/redis-cache.ts'];

/** What is stored under the name of a block. */
export const seeds: readonly Uint8Array[] = [
  '{"blockhash":"a","transactions":[]}',
  'null',
  '{"blockhash":"\u00e9',
  `${'['.repeat(300)}${']'.repeat(300)}`,
].map((text) => Buffer.from(text));

let stored = Buffer.alloc(0);
const store: ResponseStore = { get: (_key, hear) => hear(Buffer.from(stored)), set: () => {} };

const source = new ScriptedDispatcher();
source.script = ({ method }) =>
  resultOf(method === 'getGenesisHash' ? '"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG"' : '"of a node"');
const slots = new ScriptedSlots();
slots.set('finalized', 100);
const parts = { store, counts: new ResponseCounts(), keys: new CallKeys() };
const answers = new RedisCache(source, { ...parts, roots: new FinalizedRoots(slots, () => {}) });
const call = callOf('getBlock', [7]);

/** What is stored is passed on only where it is JSON in UTF-8; else a node is asked. @returns whether it was. */
export function fuzz(bytes: Uint8Array): boolean {
  stored = Buffer.from(bytes);
  source.calls.length = 0;
  let reported: RpcResponse | null = null;
  const handler: ResponseHandler = {
    onResponse: (answer) => {
      reported = answer;
    },
    onError: (failure) => {
      throw failure;
    },
  };
  answers.dispatch(call, handler);
  const { body, errorCode } = reported ?? resultOf('');
  const isStored = source.calls.every(({ call: { method } }) => method === 'getGenesisHash');
  if (errorCode !== 0 || !isUtf8(body)) throw new Error('passed on what is no result');
  JSON.parse(body.toString());
  if (isStored !== body.equals(stored)) throw new Error('another answer than was stored');
  return isStored;
}
