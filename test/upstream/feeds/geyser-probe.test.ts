import { afterEach, describe, expect, it } from 'vitest';
import { probeGeyser } from '../../../src/upstream/probe/probe-streams.ts';
import { GeyserServer } from './geyser-server.ts';
import { slotIs } from './geyser-updates.ts';

const TOKEN = 'a-secret-token';
let server: GeyserServer;
afterEach(() => server?.stop());

const probe = (token: string, timeoutMs = 5_000) => {
  const headers = { 'x-token': token };
  return probeGeyser({ name: 'node-1', url: 'http://127.0.0.1:1', grpc: server.url, headers }, timeoutMs);
};

describe('probeGeyser', () => {
  it('succeeds on the first slot and closes the stream', async () => {
    server = await GeyserServer.start(TOKEN);
    let isCancelled = false;
    server.onRequest = (_, stream) => {
      stream.on('cancelled', () => {
        isCancelled = true;
      });
      server.send(slotIs(100, 'processed'));
    };
    expect(await probe(TOKEN)).toEqual({ fault: null, slot: 100n });
    await server.until(() => isCancelled);
  });

  it('reports a rejected token without revealing it', async () => {
    server = await GeyserServer.start(TOKEN);
    const { fault } = await probe('another-secret');
    expect(fault).toBe('it does not accept the token: check x-token in headers');
  });

  it("reports the server's message unless it contains the token", async () => {
    server = await GeyserServer.start();
    server.onRequest = () => server.fail(9, `${TOKEN} has no subscription`);
    expect((await probe(TOKEN)).fault).toBe('FAILED_PRECONDITION: [redacted]');
    server.onRequest = () => server.fail(9, 'pay first');
    expect((await probe(TOKEN)).fault).toBe('FAILED_PRECONDITION: pay first');
  });

  it('reports a silent or unreachable server', async () => {
    server = await GeyserServer.start();
    expect(await probe(TOKEN, 200)).toEqual({ fault: 'no slot received in time', slot: null });
    server.stop();
    expect((await probe(TOKEN)).fault).toBe('UNAVAILABLE: connection refused (ECONNREFUSED)');
  });
});
