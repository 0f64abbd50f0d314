import type { HttpOptions } from '../../src/servers/http-options.ts';
import { type Door, startDoor } from '../servers/start-door.ts';

/** The ways into the service that the same attacks are tried on. */
export const doors: readonly (readonly [string, (options?: Partial<HttpOptions>) => Promise<Door>])[] = [
  ['node:http', (options = {}) => startDoor(options)],
];

/** A call as its caller writes it. */
export const call = (method: string, params = '[]', id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** The statuses of all answers that came back on a connection. */
export const statuses = (received: string): number[] =>
  [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
