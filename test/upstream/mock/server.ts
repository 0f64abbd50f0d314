import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One request as a mock node received it. */
export type Received = Readonly<{
  id: number;
  method: string;
  raw: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
}>;

/** How a mock node treats a request. */
export type Behaviour = (request: Received, reply: ServerResponse, socket: Socket) => void;

/** A scripted node on a free loopback port. */
export type MockNode = Readonly<{
  url: string;
  /** Everything it received but the questions of the health watch. */
  received: readonly Received[];
  /** The questions of the health watch. */
  polls: readonly Received[];
  /** How often it received the method, polls left out. */
  count(method: string): number;
  /** Behaves otherwise from now on. */
  become(behaviour: Behaviour): void;
  /** How many connections to it are open: with none, it has read all that was sent to it. */
  connections(): Promise<number>;
  close(): Promise<void>;
}>;

/** What the health watch sends; kept out of the counts. */
const WATCH = [
  /"method":"getSlot","params":\[\{"commitment":"[a-z]+"\}\]\}$/,
  /"method":"(?:getGenesisHash|getMaxShredInsertSlot|getFirstAvailableBlock)"\}$/,
];
const isWatch = ({ raw }: Received): boolean => WATCH.some((question) => question.test(raw));

function parse(raw: string, request: IncomingMessage): Received {
  const { id, method } = JSON.parse(raw) as { id: number; method: string };
  return { id, method, raw, path: request.url ?? '', headers: request.headers };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let raw = '';
  for await (const chunk of request) raw += String(chunk);
  return raw;
}

/** Sends JSON text with HTTP 200, as a node does. */
export function send(reply: ServerResponse, text: string, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** Sends a JSON-RPC error in the order in which Agave writes it. */
export function sendError(
  reply: ServerResponse,
  id: number,
  code: number,
  message: string,
  data?: unknown,
): void {
  send(reply, `{"jsonrpc":"2.0","error":${JSON.stringify({ code, message, data })},"id":${id}}\n`);
}

/** @param port - 0 takes a free one. */
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
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
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
