import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Cluster } from './cluster.ts';
import { RequestLoad } from './request-load.ts';

const USAGE = `Usage: npm run cluster -- [options]

Starts PostgreSQL, Redis, one ledger and several gateways behind a plain TCP balancer, in folders of their own, prints
how to call them, and stops all of it on Ctrl-C.

  --gateways N   how many (default 2)
  --roll         restart one gateway after the other under load, say how many requests failed, and end: 1 when any did
  --json         print the result of --roll as JSON
`;

const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '2' },
    roll: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const say = (line: string): void => void (values.json || process.stdout.write(`${line}\n`));

const cluster = await Cluster.start(Number(values.gateways), say);
const key = cluster.keys.find(({ product }) => product === 'rpc')?.key ?? '';
try {
  if (values.roll) process.exitCode = await roll();
  else await untilStopped();
} finally {
  await cluster.stop();
}

async function roll(): Promise<number> {
  const load = new RequestLoad(`${cluster.httpUrl}/v1/rpc`, key);
  await load.answered(100);
  await cluster.roll(say);
  const result = await load.stop();
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  say(`${result.answered} requests were answered, ${result.failed.length} failed`);
  for (const failure of result.failed.slice(0, 10)) say(`  ${failure}`);
  return result.failed.length === 0 ? 0 : 1;
}

async function untilStopped(): Promise<void> {
  say(`
The balancer takes calls at ${cluster.httpUrl} and gRPC streams at ${cluster.grpcUrl}.

  curl ${cluster.httpUrl}/v1/rpc -H 'content-type: application/json' -H 'authorization: Bearer ${key}' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'

${/^.*#token=.*$/m.exec(cluster.firstOutput)?.[0] ?? ''}
Ctrl-C ends it.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
