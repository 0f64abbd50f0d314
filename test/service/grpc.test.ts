import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { eventually } from './eventually.ts';
import { GrpcClient, type ReceivedStream } from './grpc-client.ts';
import { type CreatedKey, keysCommand } from './keys-command.ts';
import { type RunningService, startService } from './start-service.ts';

/** The gRPC server of the whole service with the embedded ledger. */
const EFFECT_MAX_MS = 1_000;
const slots: SubscribeRequest = { slots: new Map([['all', {}]]) };
let service: RunningService;
let client: GrpcClient;
const open: ReceivedStream[] = [];

beforeAll(async () => {
  const plan = '[plans.small]\ngrpc_streams_max = 1\ngrpc_filters_max = 1\n';
  service = await startService({ configuration: `[localnet]\nslot_ms = 50\n${plan}` });
  client = new GrpcClient(service.ready.grpcUrl);
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});
afterAll(async () => {
  client?.close();
  await service?.stop();
});

const keyOf = (product: 'rpc' | 'grpc' | 'fs'): string =>
  service.ready.keys.find((key) => key.product === product)?.key ?? '';

function listen(key: string | null, rpc = 'Subscribe'): ReceivedStream {
  const stream = client.open(key, rpc);
  open.push(stream);
  return stream;
}

/** Creates a key and waits until the service accepts it. */
async function createKey(...args: string[]): Promise<CreatedKey> {
  const made = await keysCommand(service, 'create', '--name', 'test', '--product', 'grpc', ...args);
  await eventually(async () => Buffer.isBuffer(await client.call(made.secret, 'GetSlot')), 'it is accepted');
  return made;
}

describe('access by key', () => {
  it.each([
    ['grpc', 'Subscribe'],
    ['fs', 'Subscribe'],
    ['fs', 'SubscribeDeshred'],
  ] as const)('is granted for the product %s, %s', async (product, rpc) => {
    const stream = listen(keyOf(product), rpc);
    // A stream starts with a ping.
    await stream.first;
    expect(stream.messages).toBeGreaterThan(0);
  });

  it.each([
    ['grpc', 'SubscribeDeshred'],
    ['grpc', 'SubscribeEntries'],
    ['rpc', 'Subscribe'],
    ['rpc', 'SubscribeEntries'],
  ] as const)('is refused for the product %s, %s', async (product, rpc) => {
    expect(await listen(keyOf(product), rpc).ended).toEqual({
      status: 7,
      text: 'The API key belongs to a different product',
      name: 'UNAUTHORIZED_PRODUCT',
      facts: null,
    });
  });

  it('is refused without a valid key, with a gRPC status', async () => {
    const text = 'No API key: send it as the metadata "x-token"';
    const missing = { status: 16, text, name: 'MISSING_KEY', facts: null };
    expect(await listen(null).ended).toEqual(missing);
    expect(await client.call(null, 'GetSlot')).toEqual(missing);
    const wrong = { status: 16, name: 'INVALID_KEY' };
    expect(await listen('svc_grpc_live_nonsense').ended).toMatchObject(wrong);
    expect(await client.call('svc_grpc_live_nonsense', 'GetVersion')).toMatchObject(wrong);
  });
});

describe('a stream', () => {
  it('ends within a second when its key is revoked, unlike that of another key', async () => {
    const { secret, key } = await createKey();
    const stream = listen(secret);
    const neighbour = listen(keyOf('grpc'));
    for (const each of [stream, neighbour]) each.send(slots);
    await eventually(async () => stream.messages > 3 && neighbour.messages > 3, 'slots are received');
    await keysCommand(service, 'revoke', key.id);
    const revokedAt = performance.now();
    expect(await stream.ended).toMatchObject({ status: 16, name: 'INVALID_KEY' });
    const tookMs = performance.now() - revokedAt;
    process.stdout.write(`a stream ended ${Math.round(tookMs)} ms after its key was revoked\n`);
    expect(tookMs).toBeLessThan(EFFECT_MAX_MS);
    const before = neighbour.messages;
    await eventually(async () => neighbour.messages > before + 3, 'the neighbour continues');
  });
});

it('ends streams with UNAVAILABLE when the service stops', async () => {
  const stream = listen(keyOf('grpc'));
  stream.send(slots);
  await eventually(async () => stream.messages > 3, 'slots are received');
  const [code, end] = await Promise.all([service.stop(), stream.ended]);
  expect(code).toBe(0);
  expect(end).toMatchObject({
    status: 14,
    text: 'server is shutting down try again later',
    name: 'DRAINING',
  });
});
