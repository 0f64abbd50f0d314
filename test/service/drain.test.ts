import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { healthy } from '../upstream/mock/behaviors.ts';
import { send, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { isRunning, ledgerPid } from './program.ts';
import { rawSocket } from './raw-socket.ts';
import { createRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** Shutdown of the service by SIGTERM and SIGKILL. */
const ANSWER_LENGTH = 8_000_000;
const ANSWER = `"${'x'.repeat(ANSWER_LENGTH)}"`;
const NOTICE_MS = 1_500;
const HELD_UP_MS = 2_000;
let service: RunningService | null = null;
afterEach(() => service?.stop('SIGKILL'));

/** Uses a new connection. @returns status and body, or the error code of a refused connection. */
const ready = (url: string): Promise<[number, unknown] | string> =>
  fetch(`${url}/ready`, { headers: { connection: 'close' } }).then(
    async (response) => [response.status, await response.json()],
    (error: Error) => (error.cause as NodeJS.ErrnoException).code ?? 'other',
  );

const GET_READY = 'GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n';

describe('SIGTERM', () => {
  it('with a notice period makes /ready return 503 while requests are still served, then stops accepting', async () => {
    const released = Promise.withResolvers<void>();
    const slow = await startMock(async (request, reply, socket) => {
      if (request.method !== 'getBlock') return healthy()(request, reply, socket);
      await released.promise;
      send(reply, `{"jsonrpc":"2.0","result":${ANSWER},"id":${request.id}}\n`);
    });
    const configuration = `[server]\ndrain_notice_ms = ${NOTICE_MS}\n[[upstream]]\nurl = "${slow.url}"\n`;
    const running = await startService({ configuration });
    service = running;
    const { url, rpcUrl } = running.ready;
    const existing = await rawSocket(url);
    existing.write(GET_READY);
    await existing.until(/^HTTP\/1\.1 200 [\s\S]*"draining":false/);
    const pending = createRpcClient(rpcUrl, running.key).call<string>('getBlock', [1]);
    await eventually(async () => slow.count('getBlock') > 0, 'the node has the call');
    const ended = running.stop();
    await eventually(async () => {
      const answer = await ready(url);
      return Array.isArray(answer) && answer[0] === 503;
    }, '/ready says 503');
    existing.write(GET_READY);
    const [, headers] = await existing.until(/HTTP\/1\.1 503 ([\s\S]*)"ready":false[\s\S]*"draining":true/);
    expect(headers!.toLowerCase()).toContain('connection: close');
    expect(await createRpcClient(rpcUrl, running.key).result('getHealth')).toBe('ok');
    await eventually(async () => (await ready(url)) === 'ECONNREFUSED', 'new connections are refused');
    released.resolve();
    expect((await pending).body.result?.length).toBe(ANSWER_LENGTH);
    expect(await ended).toBe(0);
    await slow.close();
  });
});

describe('Ctrl+C in a terminal, which reaches the whole process group', () => {
  it('keeps the ledger running until the gateway has drained', async () => {
    const configuration = `[server]\ndrain_notice_ms = ${2 * NOTICE_MS}\n[localnet]\nslot_ms = 50\n`;
    service = await startService({ configuration, ownGroup: true });
    const { ready: facts, key, output } = service;
    const ended = once(service.process, 'exit');
    const ledger = ledgerPid(service.dataDir)!;
    process.kill(-service.process.pid!, 'SIGINT');
    await eventually(
      async () => output().includes('"msg":"Stopping"'),
      'the service has received the signal',
    );
    for (let i = 0; i < 5; i++)
      expect(await createRpcClient(facts.rpcUrl, key).result('getHealth')).toBe('ok');
    expect(await ended).toEqual([0, null]);
    expect(output()).not.toContain('Embedded ledger exited');
    expect(isRunning(ledger)).toBe(false);
  });
});

describe('SIGKILL', () => {
  it('of the gateway stops the ledger, and the next start waits for it', async () => {
    const { key, dataDir, stop } = await startService();
    const pid = ledgerPid(dataDir)!;
    // Paused long enough that the next start begins before the ledger exits.
    process.kill(pid, 'SIGSTOP');
    await stop('SIGKILL');
    const starting = startService({ dataDir });
    await delay(HELD_UP_MS);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, 'SIGCONT');
    service = await starting;
    expect(isRunning(pid)).toBe(false);
    expect(await createRpcClient(service.ready.rpcUrl, key).result('getHealth')).toBe('ok');
  });
});
