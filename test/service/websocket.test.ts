import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { failures } from '../../src/protocol/errors.ts';
import { eventually } from './eventually.ts';
import { keysCommand } from './keys-command.ts';
import { refusalOf, SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** The whole service with its embedded ledger, and a WebSocket client. */
const SOL = 1_000_000_000;
const confirmed = { commitment: 'confirmed' };

let service: RunningService;
const clients: SocketClient[] = [];

const address = (key: string): string => `${service.ready.wsUrl}?api-key=${key}`;

async function connect(key = service.key): Promise<SocketClient> {
  const client = await SocketClient.open(address(key));
  clients.push(client);
  return client;
}

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  for (const { socket } of clients) socket.terminate();
  await service?.stop();
});

const newAddress = (): string => Keypair.generate().publicKey.toBase58();

describe('the WebSocket server', () => {
  it('refuses before the upgrade: 401 without a key, 403 with a wrong one', async () => {
    expect(await refusalOf(service.ready.wsUrl)).toEqual({ status: 401, code: 'MISSING_KEY' });
    const unknown = address(generateApiKey('rpc').text);
    expect(await refusalOf(unknown)).toEqual({ status: 403, code: 'INVALID_KEY' });
    const grpc = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
    expect(await refusalOf(address(grpc))).toEqual({ status: 403, code: 'UNAUTHORIZED_PRODUCT' });
  });
});

describe('a subscription, from the client to the embedded ledger and back', () => {
  it('delivers the changes of an account by a transaction', async () => {
    const client = await connect();
    const account = newAddress();
    const id = await client.result<number>('accountSubscribe', [
      account,
      { ...confirmed, encoding: 'base64' },
    ]);
    await client.result('requestAirdrop', [account, 2 * SOL]);
    const { method, result } = await client.next(id);
    expect(method).toBe('accountNotification');
    expect(result).toMatchObject({
      context: { slot: expect.any(Number) },
      value: { lamports: 2 * SOL, data: ['', 'base64'], owner: '1'.repeat(32) },
    });
  });
});

describe('a revoked key', () => {
  it('closes its open connections with 1008 within a second of the command', async () => {
    const { secret, key } = await keysCommand(service, 'create', '--name', 'to revoke');
    const client = await eventually(() => connect(secret).catch(() => null), 'the new key is known');
    const other = await connect();
    const slots = await client.result<number>('slotSubscribe');
    await client.next(slots);
    await keysCommand(service, 'revoke', key.id);
    const revokedAt = performance.now();
    const { code, reason, at } = await client.ended;
    expect([code, reason]).toEqual([1008, `INVALID_KEY: ${failures.INVALID_KEY.text}`]);
    expect(at - revokedAt).toBeLessThan(1_000);
    expect(await refusalOf(address(secret))).toEqual({ status: 403, code: 'INVALID_KEY' });
    expect(await other.result('getHealth')).toBe('ok');
  });
});

it('SIGTERM closes WebSockets with 1012, and stores their usage', async () => {
  const { secret, key } = await keysCommand(service, 'create', '--name', 'metered');
  const client = await eventually(() => connect(secret).catch(() => null), 'the new key is known');
  const id = await client.result<number>('slotSubscribe');
  let bytes = 0;
  let messages = 0;
  client.socket.on('message', (data) => {
    if (!String(data).includes('"method"')) return;
    messages++;
    bytes += String(data).length;
  });
  for (let observed = 0; observed < 5; observed++) await client.next(id);
  await client.result('getSlot');
  const stopped = service.stop();
  expect(await client.ended).toMatchObject({ code: 1012, reason: `DRAINING: ${failures.DRAINING.text}` });
  expect(await stopped).toBe(0);
  const store = await openDatabase({ file: join(service.dataDir, 'solway.db') });
  const usage = store.db.selectFrom('usage_minute').selectAll().where('key_id', '=', key.id);
  const rows = await usage.execute();
  await store.close();
  const sum = (method: string, field: 'requests' | 'messages' | 'bytes_out' | 'bytes_in') =>
    rows.filter((row) => row.method === method).reduce((total, row) => total + row[field], 0);
  expect([sum('slotSubscribe', 'requests'), sum('getSlot', 'requests')]).toEqual([1, 1]);
  expect(sum('slotSubscribe', 'bytes_in')).toBeGreaterThan(20);
  // One may have arrived before the listener was attached.
  expect(sum('notifications', 'messages')).toBeGreaterThanOrEqual(Math.max(5, messages));
  expect(sum('notifications', 'bytes_out')).toBeGreaterThanOrEqual(bytes);
});
