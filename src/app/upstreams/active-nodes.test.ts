import { expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { ActiveNodes } from './active-nodes.ts';

const lines: string[] = [];
const log = createLogger('error', (line) => lines.push(line));
const node = (name: string, region: string | null) =>
  ({ network: 'devnet', name, url: 'http://127.0.0.1:1', region }) as const;

it.each([
  ['fra', [undefined, undefined, true]],
  [null, [undefined, undefined, undefined]],
])('nodes are remote if they name another region than the gateway: %s', (region, remote) => {
  const active = new ActiveNodes({
    fileNodes: [node('own', 'fra'), node('unknown', null), node('other', 'ams')],
    ledgerNode: null,
    addedNodes: [],
    networks: { default: 'devnet', names: ['devnet'] },
    region,
    log,
  });
  expect(active.byNetwork.devnet!.map(({ isRemote }) => isRemote)).toEqual(remote);
});

it('added nodes of a network that the configuration does not list are ignored', () => {
  const settings = { url: 'http://127.0.0.1:1', ws: null, isWsDerived: false, grpc: null, headers: {} };
  const addedNodes = (['staging', 'old'] as Network[]).map((network) => ({
    ...{ name: network, network, settings: { ...settings, options: {} } },
  }));
  const names = ['devnet', 'staging'] as Network[];
  const networks = { default: 'devnet', names } as const;
  const active = new ActiveNodes({ fileNodes: [], ledgerNode: null, addedNodes, networks, log });
  expect(Object.keys(active.byNetwork)).toEqual(['staging']);
  expect(lines.join('')).toContain('networks.custom in the configuration does not name old');
});
