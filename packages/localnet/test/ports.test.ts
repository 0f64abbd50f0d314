import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Localnet, type LocalnetOptions, startLocalnet } from '../../../src/app/localnet/localnet.ts';
import { createLogger } from '../../../src/base/log.ts';
import { temporaryFolder } from '../../../test/service/program.ts';
import { bindSilentPort } from '../src/network/silent-port.ts';

/** Published clients expect the WebSocket on the port after JSON-RPC. */
let ledgerDir: string;
let localnet: Localnet;

const options = (rpcPort: number): LocalnetOptions => ({
  ledgerDir,
  host: '127.0.0.1',
  rpcPort,
  inUseWaitMs: 0,
  slotMs: 20,
  log: createLogger('silent', () => {}),
});

beforeAll(async () => {
  ledgerDir = temporaryFolder('ledger');
  localnet = await startLocalnet(options(0));
});
afterAll(async () => {
  await localnet?.stop();
});

describe('embedded ledger ports', () => {
  const listening = async (port: number): Promise<Server> => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return server;
  };
  const other = (rpcPort: number): Promise<Localnet> =>
    startLocalnet({ ...options(rpcPort), ledgerDir: join(ledgerDir, 'other') });

  it('are adjacent', () => {
    expect(localnet.pubsubPort).toBe(localnet.rpcPort + 1);
  });

  it('of all services that Agave lists are bound and listed', async () => {
    const response = await fetch(`http://127.0.0.1:${localnet.rpcPort}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"getClusterNodes"}',
    });
    const [node] = ((await response.json()) as { result: Record<string, string | null>[] }).result;
    const { rpc, pubsub, tpu, tpuForwards, ...rest } = node!;
    expect([tpu, tpuForwards]).toEqual([null, null]);
    expect([rpc, pubsub]).toEqual([localnet.rpcPort, localnet.pubsubPort].map((port) => `127.0.0.1:${port}`));
    const udp = ['gossip', 'serveRepair', 'tpuForwardsQuic', 'tpuQuic', 'tpuVote', 'tvu'];
    for (const service of udp) {
      const port = Number(/^127\.0\.0\.1:(\d+)$/.exec(rest[service] ?? '')?.[1]);
      await expect(
        bindSilentPort(
          '127.0.0.1',
          port,
          createLogger('silent', () => {}),
        ),
      ).rejects.toThrow('EADDRINUSE');
    }
  });

  it('are rejected with instructions if the second is taken', async () => {
    const first = await other(0);
    const { rpcPort, pubsubPort } = first;
    await first.stop();
    const holder = await listening(pubsubPort);
    await expect(other(rpcPort)).rejects.toThrow(
      `port ${pubsubPort} of 127.0.0.1 (WebSockets, the port after --rpc-port ${rpcPort}) is in use: ` +
        'stop the other program or choose another port with --rpc-port',
    );
    holder.close();
    await expect(other(65_535)).rejects.toThrow(
      'no port after 65535 for WebSockets: choose a lower one with --rpc-port',
    );
    // A failed attempt releases both ports.
    const second = await other(rpcPort);
    expect(second.pubsubPort).toBe(pubsubPort);
    await second.stop();
  });
});
