import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { failures } from '../../src/protocol/errors.ts';
import { runSolway } from '../cli/run-solway.ts';
import { eventually } from './eventually.ts';
import { temporaryFolder } from './program.ts';
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
  it('refuses before the upgrade: 401 without a key, 403 with a wrong one, 426 without an upgrade', async () => {
    expect(await refusalOf(service.ready.wsUrl)).toEqual({ status: 401, code: 'MISSING_KEY' });
    const unknown = address(generateApiKey('rpc').text);
    expect(await refusalOf(unknown)).toEqual({ status: 403, code: 'INVALID_KEY' });
    const grpc = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
    expect(await refusalOf(address(grpc))).toEqual({ status: 403, code: 'UNAUTHORIZED_PRODUCT' });
    const plainly = (url: string) => fetch(url.replace('ws:', 'http:'));
    // Browsers hide why a handshake was refused; plain requests get the reason.
    expect((await plainly(unknown)).status).toBe(403);
    expect(await (await plainly(service.ready.wsUrl)).json()).toMatchObject({
      error: { data: { code: 'MISSING_KEY' } },
    });
    const plain = await plainly(address(service.key));
    expect(plain.status).toBe(426);
    expect(await plain.json()).toMatchObject({ error: { data: { code: 'UPGRADE_REQUIRED' } } });
  });

  it('accepts the key in the header', async () => {
    const headers = { authorization: `Bearer ${service.key}` };
    const client = await SocketClient.open(service.ready.wsUrl, headers);
    clients.push(client);
    expect(await client.result('getHealth')).toBe('ok');
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

  it('delivers consecutive slots under one id', async () => {
    const client = await connect();
    const id = await client.result<number>('slotSubscribe');
    const slots: number[] = [];
    while (slots.length < 5) slots.push((await client.next<{ slot: number }>(id)).result.slot);
    expect(slots).toEqual(slots.map((_, index) => slots[0]! + index));
    expect(await client.result('slotUnsubscribe', [id])).toBe(true);
    expect(await client.call('slotUnsubscribe', [id])).toMatchObject({
      error: { code: -32602, message: 'Invalid subscription id.' },
    });
  });

  it('delivers the status of a signature once, also for a late subscription', async () => {
    const client = await connect();
    const signature = await client.result<string>('requestAirdrop', [newAddress(), SOL]);
    const id = await client.result<number>('signatureSubscribe', [signature, confirmed]);
    expect((await client.next(id)).result).toMatchObject({ value: { err: null } });
    expect(await client.call('signatureUnsubscribe', [id])).toMatchObject({ error: { code: -32602 } });
    const late = await client.result<number>('signatureSubscribe', [signature, confirmed]);
    expect((await client.next(late)).result).toMatchObject({ value: { err: null } });
  });

  it('delivers transactions that mention an account', async () => {
    const client = await connect();
    const account = newAddress();
    const options = { ...confirmed, transactionDetails: 'signatures', maxSupportedTransactionVersion: 0 };
    const id = await client.result<number>('transactionSubscribe', [{ accountInclude: [account] }, options]);
    const signature = await client.result<string>('requestAirdrop', [account, SOL]);
    const { method, result } = await client.next(id);
    expect([method, result]).toEqual(['transactionNotification', expect.objectContaining({ signature })]);
  });

  it('is shared between connections, each with its own id', async () => {
    const [one, other] = [await connect(), await connect()];
    const account = newAddress();
    const ids = [
      await one.result<number>('accountSubscribe', [account, confirmed]),
      await one.result<number>('accountSubscribe', [account, confirmed]),
      await other.result<number>('accountSubscribe', [account, confirmed]),
    ] as const;
    expect(ids[0]).not.toBe(ids[1]);
    await other.result('requestAirdrop', [account, SOL]);
    const observed = [await one.next(ids[0]), await one.next(ids[1]), await other.next(ids[2])];
    expect(observed[1]).toEqual(observed[0]);
    expect(observed[2]).toEqual(observed[0]);
  });

  it('is refused with the node’s message for invalid params', async () => {
    const client = await connect();
    expect(await client.call('accountSubscribe', ['nonsense'])).toMatchObject({
      error: { code: -32602, message: 'Invalid Request: Invalid pubkey provided' },
    });
  });
});

describe('a revoked key', () => {
  it('closes its open connections with 1008 within a second of the command', async () => {
    const where = ['--json', '--data-dir', service.dataDir, '--config', service.config];
    const solway = async (...args: string[]) =>
      runSolway(temporaryFolder('keys'), ['keys', ...args, ...where]);
    const made = JSON.parse((await solway('create', '--name', 'to revoke')).out);
    const { secret, key } = made as { secret: string; key: { id: string } };
    const client = await eventually(() => connect(secret).catch(() => null), 'the new key is known');
    const other = await connect();
    const slots = await client.result<number>('slotSubscribe');
    await client.next(slots);
    expect((await solway('revoke', key.id)).code).toBe(0);
    const revokedAt = performance.now();
    const { code, reason, at } = await client.ended;
    expect([code, reason]).toEqual([1008, `INVALID_KEY: ${failures.INVALID_KEY.text}`]);
    expect(at - revokedAt).toBeLessThan(1_000);
    expect(await refusalOf(address(secret))).toEqual({ status: 403, code: 'INVALID_KEY' });
    expect(await other.result('getHealth')).toBe('ok');
  });
});
