import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { genesisHashes } from '../../../src/upstream/genesis-hash.ts';
import { type Behaviour, send, sendError } from './server.ts';

/** How mock nodes respond. */

export const healthy =
  (result = '"ok"', slot = 1_000n): Behaviour =>
  ({ id, method }, reply) =>
    send(reply, `{"jsonrpc":"2.0","result":${method === 'getSlot' ? slot : result},"id":${id}}\n`);

export const failing =
  (code: number, message = 'no', data?: unknown): Behaviour =>
  ({ id }, reply) =>
    sendError(reply, id, code, message, data);

export const behind = failing(-32005, 'Node is behind by 150 slots', { numSlotsBehind: 150 });

export const silent: Behaviour = () => {};

export const dyingAfterRequest: Behaviour = (_request, _reply, socket) => {
  socket.destroy();
};

export const dyingMidBody: Behaviour = ({ id }, reply, socket) => {
  reply.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
  reply.write(`{"jsonrpc":"2.0","result":{"half":"${id}`, () => socket.destroy());
};

export const truncated: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","id":${id},"result":{"value":{"lamports":1}`);

export const wrongId: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","result":"not yours","id":${id + 1}}\n`);

export const refusing =
  (status: number): Behaviour =>
  (_request, reply) =>
    send(reply, '<h1>no</h1>', status);

export const htmlBadGateway: Behaviour = (_request, reply) => {
  reply.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
};

export const throttling =
  (retryAfter?: string): Behaviour =>
  (_request, reply) => {
    reply.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    reply.end('{"error":"Too many requests, buy more at https://provider.example/key-abcdef"}');
  };

/** Delays a behavior, and drops it if the client disconnects. */
export const slow =
  (ms: number, behaviour: Behaviour): Behaviour =>
  (request, reply, socket) => {
    const timer = setTimeout(() => behaviour(request, reply, socket), ms);
    socket.once('close', () => clearTimeout(timer));
  };

/** Applies the behaviors to successive requests, regardless of the node; the last one repeats. */
export function inSequence(...behaviours: readonly Behaviour[]): Behaviour {
  let requests = 0;
  return (...given) => behaviours[Math.min(requests++, behaviours.length - 1)]!(...given);
}

export const onMethod =
  (method: string, behaviour: Behaviour, other: Behaviour = healthy()): Behaviour =>
  (request, reply, socket) =>
    (request.method === method ? behaviour : other)(request, reply, socket);

/** Collects responses in `held`; the test calls them to send them. */
export const holding =
  (held: (() => void)[], behaviour: Behaviour = healthy()): Behaviour =>
  (...given) =>
    void held.push(() => behaviour(...given));

/** Reported state; functions are evaluated per request. */
export type ReportedState = Readonly<{
  slot?: number | (() => number);
  shreds?: number;
  firstAvailable?: number;
  genesis?: string;
  result?: string;
}>;

/** Reports the given state; responds to other methods with one result. */
export const reporting =
  ({ slot = 1_000, shreds, firstAvailable = 0, genesis, result = '"ok"' }: ReportedState): Behaviour =>
  ({ id, method }, reply) => {
    const current = (): number => (typeof slot === 'function' ? slot() : slot);
    const own: Readonly<Record<string, () => unknown>> = {
      getSlot: current,
      getMaxShredInsertSlot: () => shreds ?? current(),
      getFirstAvailableBlock: () => firstAvailable,
      getHealth: () => '"ok"',
      getGenesisHash: () => (genesis === undefined ? undefined : JSON.stringify(genesis)),
    };
    send(reply, `{"jsonrpc":"2.0","result":${own[method]?.() ?? result},"id":${id}}\n`);
  };

export const stale = (reported: ReportedState): Behaviour =>
  reporting({ ...reported, slot: 4_900, shreds: 5_200 });

export const frozenSlot = (reported: ReportedState): Behaviour => reporting({ ...reported, slot: 4_950 });

export function lyingSlot(reported: ReportedState): Behaviour {
  let requests = 0;
  return reporting({ ...reported, slot: () => (requests++ === 0 ? 5_000 : 9_000_000 + requests) });
}

export const wrongNetwork = (reported: ReportedState): Behaviour =>
  reporting({ ...reported, genesis: genesisHashes.testnet });

/**
 * URL of a closed port. It is below the ports that the kernel assigns (32768 on Linux), so that it stays closed, and
 * a client that connects to it repeatedly cannot reach itself.
 */
export async function deadUrl(): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return `http://127.0.0.1:${port}/`;
  }
  throw new Error('no free port from 20000 to 31999');
}
