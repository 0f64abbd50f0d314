import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createLogger } from '../../../src/base/log.ts';
import { RpcError } from '../../../src/protocol/rpc-error.ts';
import { type LocalnetServer, startLocalnetServer } from '../src/http/server.ts';
import type { Bank, LocalNode } from '../src/node.ts';
import type { RpcHandler } from '../src/rpc-handler.ts';

/** A non-circulating mainnet-beta account holds 2.5 SOL. */
const bank = {
  capitalization: 500_000_000_012_345_000n,
  accountsByOwner: () => [],
  account: (address: string) =>
    address === '14FUT96s9swbmH7ZjpDvfEDywnAYy9zaNhv4xvezySGu' ? { lamports: 2_500_000_000n } : null,
};
export const node = {
  bank: () => bank as unknown as Bank,
} as unknown as LocalNode;

export const executed: string[] = [];
export const logged: string[] = [];
const gate = Promise.withResolvers<void>();

export const handlers: Record<string, RpcHandler> = {
  getHealth: () => {
    executed.push('getHealth');
    return 'ok';
  },
  echo: (_node, params) => params ?? 'none',
  fails: () => {
    throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: 7n });
  },
  breaks: () => {
    throw new Error('a secret detail');
  },
  slow: async () => {
    await gate.promise;
    return 'slow';
  },
  opensGate: () => {
    gate.resolve();
    return 'open';
  },
};

export const openServer = (
  options: Partial<Parameters<typeof startLocalnetServer>[1]> = {},
): Promise<LocalnetServer> =>
  startLocalnetServer(node, {
    port: 0,
    log: createLogger('info', (line) => logged.push(line)),
    handlers,
    headersTimeoutMs: 1_000,
    requestTimeoutMs: 1_000,
    ...options,
  });

export type Seen = Readonly<{
  status: number | undefined;
  headers: IncomingMessage['headers'];
  text: string;
}>;

export async function sendTo(
  port: number,
  body: string | Buffer,
  options: { method?: string; path?: string; headers?: Record<string, string> } = {},
): Promise<Seen> {
  const { method = 'POST', path = '/', headers = {} } = options;
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers });
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode,
    headers: response.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

export const JSON_TYPE = { 'content-type': 'application/json' };
export const call = (members: string): string => `{"jsonrpc":"2.0","method":"getHealth",${members}}`;
export const PARSE_ERROR = '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}\n';
export const invalidRequest = (id: string): string =>
  `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":${id}}`;
export const WRONG_VERSION =
  '{"error":{"code":-32600,"message":"Unsupported JSON-RPC protocol version"},"id":1}\n';
export const notFound = '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}\n';
export const ok = (id: string): string => `{"jsonrpc":"2.0","result":"ok","id":${id}}`;
