import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OffChainClient } from '../../../src/upstream/off-chain/off-chain-client.ts';
import { type Host, json, neverAborted, openClient, startHost } from './hosts.ts';

/**
 * 0.0.0.0 is an address whose connection leads to another one: to 127.0.0.1. So it stands here for whatever leads a
 * connection elsewhere than where it was meant to go, such as a network that changes addresses on the way.
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
  'asks nothing where a connection to %s leads to an address that must not be connected to',
  async (name) => {
    expect(await read(`http://${name}:${host.port}/meta`, ['0.0.0.0/32'])).toBeUndefined();
    expect([host.connections(), host.requestedPaths]).toEqual([1, []]);
  },
);

it.each(['0.0.0.0', 'a.example'])('reads where a connection to %s leads to one that may be', async (name) => {
  expect(await read(`http://${name}:${host.port}/meta`, ['0.0.0.0/32', '127.0.0.1/32'])).toEqual(META);
});
