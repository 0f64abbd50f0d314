import { once } from 'node:events';
import { readOptions, sayUnless } from '../programs/options.ts';
import { Cluster } from './cluster.ts';

const USAGE = `Usage: npm run cluster -- [options]

Starts PostgreSQL, Redis, a ledger and several gateways behind HAProxy in temporary folders, prints the addresses, and
stops everything on Ctrl-C.

  --gateways N   number of gateways, 1 to 3 (default 2)
`;

const { gateways } = readOptions(USAGE, { gateways: 2 }, { gateways: [1, 3] });
const say = sayUnless(false);

const cluster = await Cluster.start(gateways, say);
const key = cluster.keys.find(({ product }) => product === 'rpc')?.key ?? '';
try {
  await untilStopped();
} finally {
  await cluster.stop();
}

async function untilStopped(): Promise<void> {
  say(`
The balancer listens at ${cluster.httpUrl} and, for gRPC, at ${cluster.grpcUrl}.

  curl ${cluster.httpUrl}/v1/rpc -H 'content-type: application/json' -H 'authorization: Bearer ${key}' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'

Create the operator account at ${/http\S+#token=[\w-]+/.exec(cluster.firstOutput)?.[0] ?? ''}
Press Ctrl-C to stop.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
