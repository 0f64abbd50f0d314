import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { OffChain } from '../../../src/rest-api/services.ts';
import { OffChainClient, type OffChainOptions } from '../../../src/upstream/off-chain/off-chain-client.ts';

export type Script = (request: IncomingMessage, reply: ServerResponse, socket: Socket) => void;

export type Host = Readonly<{
  port: number;
  requestedPaths: string[];
  headers: IncomingMessage['headers'][];
  connections: () => number;
  /** Behavior by path; other paths return 404. */
  scripts: Map<string, Script>;
  close(): Promise<void>;
}>;

/** @param port - 0: any free port. */
export async function startHost(
  scripts: Record<string, Script>,
  address = '127.0.0.2',
  port = 0,
): Promise<Host> {
  const requestedPaths: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const byPath = new Map(Object.entries(scripts));
  let connections = 0;
  const server = createServer((request, reply) => {
    requestedPaths.push(request.url ?? '');
    headers.push(request.headers);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const script = byPath.get(path) ?? byPath.get('*');
    if (script === undefined) reply.writeHead(404).end();
    else script(request, reply, request.socket);
  });
  server.on('connection', (socket) => {
    connections++;
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requestedPaths,
    headers,
    connections: () => connections,
    scripts: byPath,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export const json =
  (value: unknown, type = 'application/json'): Script =>
  (_request, reply) =>
    void reply.writeHead(200, { 'content-type': type }).end(JSON.stringify(value));

export const bytes =
  (
    body: Buffer | string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
    status = 200,
  ): Script =>
  (_request, reply) =>
    void reply.writeHead(status, headers).end(body);

export const redirect = (location: string, status = 302): Script => bytes('', { location }, status);

export const noResponse: Script = () => undefined;

export const neverAborted = new AbortController().signal;

/** A client that may connect to these ports of 127.0.0.2; every name resolves to that address. */
export function openClient(
  ports: readonly number[],
  options: Partial<OffChainOptions> = {},
): Promise<OffChainClient & OffChain> {
  const { rules, ...rest } = options;
  return OffChainClient.open({
    folder: null,
    resolve: async () => ['127.0.0.2'],
    ...rest,
    rules: { allowedNetworks: ['127.0.0.2/32'], ports: [80, 443, ...ports], ...rules },
  });
}
