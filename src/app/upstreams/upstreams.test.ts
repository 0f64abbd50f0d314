import { expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { openUpstreams } from './upstreams.ts';

/** What the log says while a node with that PubSub is taken up. Nobody listens at its address. */
async function toldOf(ws: string): Promise<string[]> {
  const lines: string[] = [];
  const node = { url: 'http://127.0.0.1:1', ws, network: 'devnet' };
  const configuration = loadConfiguration({ config: '/dev/null', upstreams: [node] }, {});
  const log = createLogger('warn', (line) => lines.push(line));
  const upstreams = openUpstreams(configuration, null, log);
  await upstreams.stop();
  return lines.filter((line) => line.includes('run solway doctor'));
}

it('says at the start, once, that no node feeds subscriptions', async () => {
  const [line = '', ...more] = await toldOf('off');
  expect(more).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({ level: 40, network: 'devnet' });
  expect(await toldOf('ws://127.0.0.1:1')).toEqual([]);
});
