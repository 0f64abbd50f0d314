import { once } from 'node:events';
import { readOptions, sayUnless } from '../programs/options.ts';
import { Cluster } from './cluster.ts';
import { RequestLoad } from './request-load.ts';

const USAGE = `Usage: npm run cluster -- [options]

Starts PostgreSQL, Redis, a ledger and several gateways behind a TCP balancer in temporary folders, prints the
addresses, and stops everything on Ctrl-C.

  --gateways N   number of gateways (default 2)
  --roll         restart one gateway after the other under load and count failed requests; exit code 1 if any failed
  --json         print the result of --roll as JSON
`;

const options = readOptions(USAGE, { gateways: 2, roll: false, json: false });
const say = sayUnless(options.json);

const cluster = await Cluster.start(options.gateways, say);
const key = cluster.keys.find(({ product }) => product === 'rpc')?.key ?? '';
try {
  if (options.roll) process.exitCode = await roll();
  else await untilStopped();
} finally {
  await cluster.stop();
}

async function roll(): Promise<number> {
  const load = new RequestLoad(`${cluster.httpUrl}/v1/rpc`, key);
  await load.answered(100);
  await cluster.roll(say);
  const { answeredAt, failed } = await load.stop();
  if (options.json) process.stdout.write(`${JSON.stringify({ answered: answeredAt.length, failed })}\n`);
  say(`${answeredAt.length} requests answered, ${failed.length} failed`);
  for (const failure of failed.slice(0, 10)) say(`  ${failure}`);
  return failed.length === 0 ? 0 : 1;
}

async function untilStopped(): Promise<void> {
  say(`
The balancer listens at ${cluster.httpUrl} and, for gRPC, at ${cluster.grpcUrl}.

  curl ${cluster.httpUrl}/v1/rpc -H 'content-type: application/json' -H 'authorization: Bearer ${key}' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'

${/^.*#token=.*$/m.exec(cluster.firstOutput)?.[0] ?? ''}
Press Ctrl-C to stop.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
