import { Pool } from 'undici';
import { methods } from '../../src/protocol/methods.ts';
import { defaultUpstreamLimits } from '../../src/upstream/limits.ts';
import { UpstreamNode } from '../../src/upstream/node.ts';
import { locateResponse } from '../../src/upstream/response/parse-response.ts';
import { sendAttempt } from '../../src/upstream/retry/attempt.ts';
import type { ClientKind, ClientMessage, ClientOrder } from './messages.ts';

/**
 * Sends the same call repeatedly with a fixed number in flight, and reports requests and CPU time. Responses
 * are parsed as in the gateway.
 */
const IN_FLIGHT = 64;
const PIPELINED_CONNECTIONS = 16;
const PIPELINING = 4;

const params = Buffer.from('["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",{"encoding":"base64"}]');
const call = { network: 'devnet', method: 'getAccountInfo', row: methods.getAccountInfo, params } as const;

type SendRequest = (onResponse: () => void) => void;
type Opened = Readonly<{ send: SendRequest; close: () => Promise<void> }>;

function openOwn(url: string, client: ClientKind): Opened {
  const isPipelined = client === 'pipelined';
  const connectionsMax = isPipelined ? PIPELINED_CONNECTIONS : IN_FLIGHT;
  const config = { name: 'node', url, ...(isPipelined && { pipelining: PIPELINING }) };
  const node = new UpstreamNode(config, 'devnet', { ...defaultUpstreamLimits, connectionsMax });
  const send: SendRequest = (onResponse) => {
    sendAttempt(node, call, 10_000, {
      onOutcome(outcome) {
        if (outcome.kind !== 'response') throw new Error(`no response: ${outcome.kind}`);
        onResponse();
      },
    });
  };
  return { send, close: async () => node.close() };
}

/** Baseline: undici. */
function openUndici(url: string): Opened {
  const pool = new Pool(new URL(url).origin, {
    connections: IN_FLIGHT,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const headers = ['content-type', 'application/json'];
  let lastId = 0;
  const send: SendRequest = (onResponse) => {
    const id = ++lastId;
    const body = Buffer.from(
      `{"jsonrpc":"2.0","id":${id},"method":"getAccountInfo","params":${params.toString()}}`,
    );
    const timer = setTimeout(() => {}, 10_000);
    const chunks: Buffer[] = [];
    pool.dispatch(
      { method: 'POST', path: '/', headers, body },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          clearTimeout(timer);
          if (locateResponse(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), id) === null)
            throw new Error('no response');
          onResponse();
        },
        onResponseError(_controller, error) {
          throw error;
        },
      },
    );
  };
  return { send, close: () => pool.destroy() };
}

async function runLoad({ client, url, seconds }: ClientOrder): Promise<ClientMessage> {
  const { send, close } = client === 'undici' ? openUndici(url) : openOwn(url, client);
  let requests = 0;
  let remaining = IN_FLIGHT;
  let isOver = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onResponse = (): void => {
    requests++;
    if (!isOver) send(onResponse);
    else if (--remaining === 0) resolve();
  };
  for (let i = 0; i < IN_FLIGHT; i++) send(onResponse);
  // Measurement starts after the warm-up.
  await new Promise((done) => setTimeout(done, 500));
  const [before, since] = [requests, process.cpuUsage()];
  await new Promise((done) => setTimeout(done, seconds * 1_000));
  const { user, system } = process.cpuUsage(since);
  const message = { requests: requests - before, cpuSeconds: (user + system) / 1e6 };
  isOver = true;
  await promise;
  await close();
  return message;
}

process.on('message', (order: ClientOrder) => {
  void runLoad(order).then((message) => process.send?.(message));
});
