import { expect, it, onTestFinished } from 'vitest';
import { openStreams } from '../../../src/app/upstreams/streams.ts';
import { openUpstreams } from '../../../src/app/upstreams/upstreams.ts';
import { createLogger } from '../../../src/base/log.ts';
import { loadConfiguration } from '../../../src/config/configuration.ts';
import { RecordingSink } from '../../streams/raw-slots.ts';
import { GeyserServer } from '../feeds/geyser-server.ts';
import { Recorder } from '../feeds/listener.ts';
import { subscriptionOf } from '../feeds/stage.ts';

it('subscriptions and gRPC streams share one stream per node, and continue when a node stops', async () => {
  const servers = await Promise.all([GeyserServer.start(), GeyserServer.start()]);
  const nodes = servers.map(({ url: grpc }, at) => ({
    ...{ name: `node-${at}`, url: 'http://127.0.0.1:1', ws: 'off', network: 'devnet', grpc },
  }));
  const configuration = loadConfiguration({ config: '/dev/null', upstreams: nodes }, {});
  const log = createLogger('silent', () => {});
  const upstreams = openUpstreams(configuration, null, log);
  const streams = openStreams(configuration, upstreams, null, log);
  onTestFinished(async () => {
    streams.stop();
    await upstreams.stop();
    for (const server of servers) server.stop();
  });
  const sink = new RecordingSink();
  await streams.standard.open('Subscribe', sink).request({ blocksMeta: ['m'] });
  for (const server of servers) await server.until(() => server.pings.length > 0);
  for (const server of servers) server.slot(100);
  await expect.poll(() => sink.received).toEqual(['m meta 100']);
  const recorder = new Recorder();
  await upstreams.feed.open(subscriptionOf('slot'), recorder);
  for (const server of servers) server.slot(101);
  await recorder.count(1);
  expect(servers.map((server) => server.streams.length)).toEqual([1, 1]);
  servers[0]!.stop();
  servers[1]!.slot(102);
  await recorder.count(2);
  expect(recorder.results.map(({ slot }) => slot)).toEqual([101, 102]);
  await expect.poll(() => sink.received).toEqual(['m meta 100', 'm meta 101', 'm meta 102']);
});
