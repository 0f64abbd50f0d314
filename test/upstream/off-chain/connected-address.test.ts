import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OffChainClient } from '../../../src/upstream/off-chain/off-chain-client.ts';
import { type Host, json, neverAborted, openClient, startHost } from './hosts.ts';

/**
 * A connection to 0.0.0.0 leads to 127.0.0.1: it simulates connections that end at another address than
 * requested.
 */
const META = { name: 'n' };

let host: Host;
let client: OffChainClient;

beforeEach(async () => {
  host = await startHost({ '/meta': json(META) }, '127.0.0.1');
});

afterEach(async () => {
  await client?.close();
  await host.close();
});

async function read(uri: string, allowedNetworks: readonly string[]): Promise<unknown> {
  const rules = { allowedNetworks, ports: [host.port] };
  client = await openClient([], { resolve: async () => ['0.0.0.0'], rules });
  return (await client.read([uri], neverAborted)).get(uri);
}

it.each(['0.0.0.0', 'a.example'])(
  'sends nothing when a connection to %s ends at a forbidden address',
  async (name) => {
    expect(await read(`http://${name}:${host.port}/meta`, ['0.0.0.0/32'])).toBeUndefined();
    expect([host.connections(), host.requestedPaths]).toEqual([1, []]);
  },
);

it.each(['0.0.0.0', 'a.example'])(
  'reads when a connection to %s ends at an allowed address',
  async (name) => {
    expect(await read(`http://${name}:${host.port}/meta`, ['0.0.0.0/32', '127.0.0.1/32'])).toEqual(META);
  },
);
