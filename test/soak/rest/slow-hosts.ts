import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a host behaves: most say nothing at all, some drip, some are right. */
export type SlowHosts = Readonly<{
  /** The URI of a document on one of the hosts. */
  uri(host: number, document: number): string;
  port: number;
  /** Requests that came. */
  requests(): number;
  /** Most that were open at a time. */
  openMax(): number;
  stop(): void;
}>;

/** Whether the host of this number answers. */
export const isHealthy = (host: number): boolean => (host + 1) % 10 === 0;

/** How often a dripping host sends a byte. */
const DRIP_MS = 500;

/**
 * Hosts of metadata on addresses of loopback of their own (127.1.0.1, 127.1.0.2, …), one port for all. Every tenth
 * answers at once, every tenth drips, the others take the request and say nothing.
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
