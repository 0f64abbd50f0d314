import { expect, it } from 'vitest';
import { accepting } from '../../../test/upstream/mock/accepting.ts';
import { outcomeOf, stage, until } from '../../../test/upstream/mock/pool.ts';
import { startMock } from '../../../test/upstream/mock/server.ts';
import { SubmissionTrace, sendCall, signedTransaction } from '../../../test/upstream/mock/submitting.ts';
import { createLogger } from '../../base/log.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { LiveConfiguration } from '../../config/live-configuration.ts';
import { openTransactionSender } from './upstream-middleware.ts';

it('Endpoints for sending have the limits that were read last', async () => {
  const scene = await stage([accepting()]);
  const endpoint = await startMock(accepting());
  const read = loadConfiguration({ config: '/dev/null', upstreams: [] }, {});
  const sender = { name: 'sender', url: endpoint.url, network: 'devnet', headers: {} } as const;
  const configuration = { ...read, senders: [sender] } as typeof read;
  const live = new LiveConfiguration(configuration);
  const sending = openTransactionSender(
    live.view,
    scene.pool,
    createLogger('silent', () => {}),
  );
  const outcome = async (): Promise<string | undefined> => {
    const trace = new SubmissionTrace();
    await outcomeOf(sending, sendCall(signedTransaction().wire, { skipPreflight: true }, trace));
    await until(() => trace.attempts.length === 2);
    return trace.attempts.find(({ node }) => node === 'sender')?.outcome;
  };
  try {
    expect(await outcome()).toBe('ok');
    live.replace({ ...configuration, upstreamPool: { ...read.upstreamPool, responseMaxBytes: 10 } });
    expect(await outcome()).toBe('response too large');
  } finally {
    await sending.close();
    await Promise.all([scene.close(), endpoint.close()]);
  }
});
