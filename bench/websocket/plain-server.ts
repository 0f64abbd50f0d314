import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { EVENTS_MADE, METHOD, resultOf, type ServerMessage, type ServerOrder } from './messages.ts';

/** Baseline: a `ws` server that serializes every message for every client. */

type Subscriber = Readonly<{ client: WebSocket; subscription: number }>;

/** An account with its subscribers and parsed events. */
type Account = Readonly<{ subscribers: Set<Subscriber>; results: readonly unknown[] }>;

const accounts = new Map<string, Account>();

function open(address: string): Account {
  const results = Array.from({ length: EVENTS_MADE }, (_, event) => resultOf(accounts.size, event));
  const account = { subscribers: new Set<Subscriber>(), results };
  accounts.set(address, account);
  return account;
}

function subscribe(client: WebSocket, message: string): void {
  const { id, params } = JSON.parse(message) as { id: number; params: [string] };
  const [address] = params;
  const { subscribers } = accounts.get(address) ?? open(address);
  const subscriber = { client, subscription: 1 };
  subscribers.add(subscriber);
  client.on('close', () => subscribers.delete(subscriber));
  client.send(JSON.stringify({ jsonrpc: '2.0', result: subscriber.subscription, id }));
}

let event = 0;

function emit(events: number): void {
  for (let i = 0; i < events; i++) {
    event = (event + 1) % EVENTS_MADE;
    for (const { subscribers, results } of accounts.values()) {
      const result = results[event];
      for (const { client, subscription } of subscribers) {
        client.send(JSON.stringify({ jsonrpc: '2.0', method: METHOD, params: { result, subscription } }));
      }
    }
  }
}

const sendMessage = (message: ServerMessage): void => void process.send?.(message);
const http = createServer();
const server = new WebSocketServer({ server: http, perMessageDeflate: false });
server.on('connection', (client) => client.on('message', (data) => subscribe(client, String(data))));
process.on('message', (order: ServerOrder) => {
  if ('emit' in order) emit(order.emit);
  else {
    globalThis.gc?.();
    sendMessage({ residentBytes: process.memoryUsage.rss() });
  }
});
process.on('SIGTERM', () => process.exit());
http.listen(0, '127.0.0.1', () => {
  sendMessage({ listening: { port: (http.address() as AddressInfo).port, path: '/' } });
});
