import {
  startHttpServer,
  type TestHttpServer,
  type TestServerOptions,
} from '../servers/start-http-server.ts';

/** The ways into the service that the same attacks are tried on. */
export const serverVariants: readonly (readonly [
  string,
  (options?: TestServerOptions) => Promise<TestHttpServer>,
])[] = [
  ['node:http', (options = {}) => startHttpServer({ ...options, raw: false })],
  ['raw sockets', (options = {}) => startHttpServer({ ...options, raw: true })],
];

/** A call as its caller writes it. */
export const call = (method: string, params = '[]', id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** The statuses of all answers that came back on a connection. */
export const statuses = (received: string): number[] =>
  [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
