import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type Behaviour, type MockNode, send, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type RunningService, startService } from './start-service.ts';

/** A node that holds calls of one method until released, and records cancellations. */
let node: MockNode;
let service: RunningService;
type Held = { answer: () => void; ended: 'answered' | 'given up' | null };
const held = new Map<string, Held>();
const others = healthy();
const holding: Behaviour = (request, reply, socket) => {
  if (request.method !== 'requestAirdrop' && request.method !== 'getBalance') {
    others(request, reply, socket);
    return;
  }
  const result = `"${encodeBase58(new Uint8Array(64).fill(5))}"`;
  const answer = () => send(reply, `{"jsonrpc":"2.0","result":${result},"id":${request.id}}\n`);
  const entry: Held = { answer, ended: null };
  held.set(request.method, entry);
  reply.on('finish', () => (entry.ended ??= 'answered'));
  reply.on('close', () => (entry.ended ??= 'given up'));
};

beforeAll(async () => {
  node = await startMock(holding);
  service = await startService({ configuration: `[[upstream]]\nurl = "${node.url}"\n` });
});
afterAll(async () => {
  await service?.stop();
  await node?.close();
});

/** Disconnects as soon as the node has the call. */
async function sendAndDisconnect(method: string): Promise<Held> {
  const leaving = new AbortController();
  const call = { jsonrpc: '2.0', id: 1, method, params: ['11111111111111111111111111111111', 1] };
  const pending = fetch(service.ready.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${service.key}` },
    body: JSON.stringify(method === 'getBalance' ? { ...call, params: call.params.slice(0, 1) } : call),
    signal: leaving.signal,
  }).catch((error: Error) => error.name);
  const entry = await eventually(async () => held.get(method), `the node has ${method}`);
  leaving.abort();
  expect(await pending).toBe('AbortError');
  return entry;
}

it('an airdrop in flight continues when its caller disconnects, while a read is cancelled', async () => {
  const airdrop = await sendAndDisconnect('requestAirdrop');
  const read = await sendAndDisconnect('getBalance');
  await eventually(async () => read.ended, 'the read has ended');
  expect(read.ended).toBe('given up');
  // The airdrop's caller disconnected before the read was sent.
  expect(airdrop.ended).toBeNull();
  airdrop.answer();
  await eventually(async () => airdrop.ended, 'the airdrop has ended');
  expect(airdrop.ended).toBe('answered');
  expect(node.count('requestAirdrop')).toBe(1);
});
