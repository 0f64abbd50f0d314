import { rmSync } from 'node:fs';
import { openLocalNode } from '../../packages/localnet/src/genesis/open.ts';
import { startLocalnetServer } from '../../packages/localnet/src/http/server.ts';
import { startPubsubServer } from '../../packages/localnet/src/pubsub/server.ts';
import { createLogger } from '../../src/base/log.ts';
import { temporaryFolder } from '../service/program.ts';
import { startService } from '../service/start-service.ts';

/** Addresses and headers of an embedded ledger and of a gateway in front of it. */
export type PubsubPeers = Readonly<{
  rpcUrl: string;
  ledger: { url: URL; headers: Record<string, string> };
  gateway: { url: URL; headers: Record<string, string> };
  close: () => Promise<void>;
}>;

/** A real slot takes 400 ms. */
const SLOT_MS = 40;

export async function startPubsubPeers(): Promise<PubsubPeers> {
  const ledgerDir = temporaryFolder('pubsub');
  const node = await openLocalNode({ ledgerDir, slotMs: SLOT_MS });
  const log = createLogger('silent', () => {});
  const http = await startLocalnetServer(node, { port: 0, log });
  const pubsub = await startPubsubServer(node, { port: 0, log });
  const [rpcUrl, wsUrl] = [`http://127.0.0.1:${http.port}`, `ws://127.0.0.1:${pubsub.port}/`];
  const configuration = `[[upstream]]\nname = "ledger"\nurl = "${rpcUrl}"\nws = "${wsUrl}"\n`;
  const service = await startService({ configuration, timeoutMs: 90_000 });
  return {
    rpcUrl,
    ledger: { url: new URL(wsUrl), headers: {} },
    gateway: { url: new URL(service.ready.wsUrl), headers: { authorization: `Bearer ${service.key}` } },
    close: async () => {
      await service.stop();
      await Promise.all([pubsub.close(), http.close()]);
      await node.stop();
      rmSync(ledgerDir, { recursive: true, force: true });
    },
  };
}
