import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Metadata hosts: most never respond, some respond slowly, some are healthy. */
export type SlowHosts = Readonly<{
  uri(host: number, document: number): string;
  port: number;
  requests(): number;
  openMax(): number;
  stop(): void;
}>;

export const isHealthy = (host: number): boolean => (host + 1) % 10 === 0;

/** Interval at which a slow host sends a byte. */
const DRIP_MS = 500;

/**
 * Hosts on loopback addresses (127.1.0.1, 127.1.0.2, …) and one port. Of ten hosts, one responds at once, one sends a
 * byte at a time, and the others never respond.
 */
export async function startSlowHosts(): Promise<SlowHosts> {
  let requests = 0;
  let open = 0;
  let openMax = 0;
  const server: Server = createServer((request, response) => {
    requests++;
    openMax = Math.max(openMax, ++open);
    response.on('close', () => open--);
    const host = Number((request.headers.host ?? '').split(':')[0]?.split('.')[3]) - 1;
    response.setHeader('content-type', 'application/json');
    if (isHealthy(host)) response.end(`{"image":"http://images.example${request.url ?? ''}.png"}`);
    else if (host % 10 === 0) {
      const timer = setInterval(() => response.write(' '), DRIP_MS);
      response.on('close', () => clearInterval(timer));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    uri: (host, document) => `http://127.1.0.${host + 1}:${port}/${document}.json`,
    port,
    requests: () => requests,
    openMax: () => openMax,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
