import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Received = Readonly<{
  id: number;
  method: string;
  raw: string;
  path: string;
  headers: IncomingHttpHeaders;
}>;

export type Behaviour = (request: Received, reply: ServerResponse, socket: Socket) => void;

export type MockNode = Readonly<{
  url: string;
  /** All requests except polls. */
  received: readonly Received[];
  polls: readonly Received[];
  /** Requests of the method, without polls. */
  count(method: string): number;
  become(behaviour: Behaviour): void;
  /** Number of open connections; at 0, everything sent has been read. */
  connections(): Promise<number>;
  close(): Promise<void>;
}>;

/** Methods of health monitoring, excluded from counts. */
const WATCH = [
  /"method":"getSlot","params":\[\{"commitment":"[a-z]+"\}\]\}$/,
  /"method":"(?:getGenesisHash|getMaxShredInsertSlot|getFirstAvailableBlock|getVersion)"\}$/,
];
const isWatch = ({ raw }: Received): boolean => WATCH.some((pattern) => pattern.test(raw));

function parse(raw: string, request: IncomingMessage): Received {
  const { id, method } = JSON.parse(raw) as { id: number; method: string };
  return { id, method, raw, path: request.url ?? '', headers: request.headers };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let raw = '';
  for await (const chunk of request) raw += String(chunk);
  return raw;
}

export function send(reply: ServerResponse, text: string, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** JSON-RPC error in Agave's member order. */
export function sendError(
  reply: ServerResponse,
  id: number,
  code: number,
  message: string,
  data?: unknown,
): void {
  send(reply, `{"jsonrpc":"2.0","error":${JSON.stringify({ code, message, data })},"id":${id}}\n`);
}

/** @param port - 0: any free port. */
export async function startMock(behaviour: Behaviour, port = 0): Promise<MockNode> {
  let current = behaviour;
  const received: Received[] = [];
  const polls: Received[] = [];
  const server = createServer((request, reply) => {
    request.on('error', () => {});
    void readBody(request).then(
      (raw) => {
        const parsed = parse(raw, request);
        (isWatch(parsed) ? polls : received).push(parsed);
        current(parsed, reply, request.socket);
      },
      () => {},
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    polls,
    count: (method) => received.filter((one) => one.method === method).length,
    become: (next) => {
      current = next;
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
