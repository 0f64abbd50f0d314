import { expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { ActiveNodes } from './active-nodes.ts';

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
    log: createLogger('error', () => {}),
  });
  expect(active.byNetwork.devnet!.map(({ isRemote }) => isRemote)).toEqual(remote);
});
