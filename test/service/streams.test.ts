import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { failures } from '../../src/protocol/errors.ts';
import { totalOf } from '../exactness/client-counts.ts';
import { isEqual } from '../exactness/compare.ts';
import { runMixedCalls } from '../exactness/run-mixed-calls.ts';
import { eventually } from './eventually.ts';
import { GrpcClient, type ReceivedStream } from './grpc-client.ts';
import { keysCommand } from './keys-command.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** WebSocket and gRPC clients of the complete service with its embedded ledger. */
const SOL = 1_000_000_000;
let service: RunningService;
let grpc: GrpcClient;
const open: ReceivedStream[] = [];

beforeAll(async () => {
  service = await startService({ configuration: '[localnet]\nslot_ms = 50\n[shreds]\nudp = "auto"\n' });
  grpc = new GrpcClient(service.ready.grpcUrl);
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});
afterAll(async () => {
  grpc?.close();
  await service?.stop();
});

const connect = (key: string) => SocketClient.open(`${service.ready.wsUrl}?api-key=${key}`);

const keyOf = (product: 'rpc' | 'grpc' | 'fs'): string =>
  service.ready.keys.find((key) => key.product === product)?.key ?? '';

function listen(key: string | null, rpc = 'Subscribe'): ReceivedStream {
  const stream = grpc.open(key, rpc);
  open.push(stream);
  return stream;
}

it('a subscription delivers account changes made by a transaction', async () => {
  const client = await connect(service.key);
  const account = Keypair.generate().publicKey.toBase58();
  const options = { commitment: 'confirmed', encoding: 'base64' };
  const id = await client.result<number>('accountSubscribe', [account, options]);
  await client.result('requestAirdrop', [account, 2 * SOL]);
  const { method, result } = await client.next(id);
  expect(method).toBe('accountNotification');
  expect(result).toMatchObject({
    context: { slot: expect.any(Number) },
    value: { lamports: 2 * SOL, data: ['', 'base64'], owner: '1'.repeat(32) },
  });
  await client.close();
});

it('a gateway that is ready has a slot for gRPC calls', async () => {
  const started = await startService({ configuration: '[localnet]\nslot_ms = 700\n' });
  const client = new GrpcClient(started.ready.grpcUrl);
  const key = started.ready.keys.find(({ product }) => product === 'grpc')!.key;
  const answer = await client.call(key, 'GetSlot');
  client.close();
  await started.stop();
  expect(answer).toBeInstanceOf(Buffer);
});

describe('access to gRPC by key', () => {
  it.each([
    ['grpc', 'Subscribe'],
    ['fs', 'Subscribe'],
    ['fs', 'SubscribeDeshred'],
  ] as const)('is granted for the product %s: %s', async (product, rpc) => {
    // A stream starts with a ping, which proves that it is open.
    await listen(keyOf(product), rpc).first;
  });

  it.each([
    ['grpc', 'SubscribeDeshred'],
    ['grpc', 'SubscribeEntries'],
    ['rpc', 'Subscribe'],
  ] as const)('is rejected for the product %s: %s', async (product, rpc) => {
    expect(await listen(keyOf(product), rpc).ended).toEqual({
      status: 7,
      text: 'The API key belongs to a different product',
      name: 'UNAUTHORIZED_PRODUCT',
      facts: null,
    });
  });

  it('is rejected without a valid key, with a gRPC status', async () => {
    const text = 'No API key: send it as the metadata "x-token"';
    const missing = { status: 16, text, name: 'MISSING_KEY', facts: null };
    expect(await listen(null).ended).toEqual(missing);
    expect(await grpc.call(null, 'GetSlot')).toEqual(missing);
    const wrong = { status: 16, name: 'INVALID_KEY' };
    expect(await listen('svc_grpc_live_nonsense').ended).toMatchObject(wrong);
  });
});

it('every page shows what the clients of four customers counted', async () => {
  const { counts, comparisons } = await runMixedCalls(service, { calls: 100, customers: 4 }, false);
  expect(comparisons.filter((comparison) => !isEqual(comparison))).toEqual([]);
  expect([totalOf(counts.by('customer')) >= 100, comparisons.length]).toEqual([true, 4 * 27 + 2]);
});

it('SIGTERM closes WebSockets and streams with the reason, and stores their usage', async () => {
  const { secret, key } = await keysCommand(service, 'create', '--name', 'metered');
  const client = await eventually(() => connect(secret).catch(() => null), 'the new key is known');
  const stream = listen(keyOf('grpc'));
  stream.send({ slots: new Map([['all', {}]]) });
  const id = await client.result<number>('slotSubscribe');
  for (let observed = 0; observed < 5; observed++) await client.next(id);
  await client.result('getSlot');
  await eventually(async () => stream.messages > 3, 'slots are received');
  const stopped = service.stop();
  expect(await client.ended).toMatchObject({ code: 1012, reason: `DRAINING: ${failures.DRAINING.text}` });
  const unavailable = { status: 14, text: 'server is shutting down try again later', name: 'DRAINING' };
  expect(await stream.ended).toMatchObject(unavailable);
  expect(await stopped).toBe(0);
  const store = await openDatabase({ file: join(service.dataDir, 'solway.db') });
  const rows = await store.db.selectFrom('usage_minute').selectAll().execute();
  await store.close();
  const sum = (method: string, field: 'requests' | 'messages' | 'bytes_out' | 'bytes_in', keyId = key.id) =>
    rows
      .filter((row) => row.method === method && row.key_id === keyId)
      .reduce((total, row) => total + row[field], 0);
  expect([sum('slotSubscribe', 'requests'), sum('getSlot', 'requests')]).toEqual([1, 1]);
  expect(sum('slotSubscribe', 'bytes_in')).toBeGreaterThan(20);
  expect(sum('notifications', 'messages')).toBeGreaterThanOrEqual(5);
  expect(sum('notifications', 'bytes_out')).toBeGreaterThan(5 * 100);
  const streamKey = service.ready.keys.find(({ product }) => product === 'grpc')?.id;
  expect(sum('Subscribe', 'messages', streamKey)).toBeGreaterThan(3);
  expect(sum('SubscribeRequest', 'requests', streamKey)).toBe(1);
});
