import { readOptions, sayUnless } from '../programs/options.ts';
import { eventually } from '../service/eventually.ts';
import { GrpcClient } from '../service/grpc-client.ts';
import { Cluster } from './cluster.ts';
import { GrpcLoad, SocketLoad, StreamLoad } from './reconnecting-loads.ts';
import { type LoadResult, RequestLoad } from './request-load.ts';

const USAGE = `Usage: npm run cluster:upgrade -- [options]

Starts three gateways on one PostgreSQL and one Redis behind HAProxy with packaging/compose/haproxy.cfg, replaces one
after the other under load over HTTP, WebSocket and gRPC, and prints a table. Exits with 1 if a call failed.

  --from FOLDER  an older clone, whose version the gateways run first (default: this version is restarted)
  --rounds N     how often all gateways are replaced (default 1)
  --clients N    clients per interface (default 4)
  --json         print the result as JSON
`;

const options = readOptions(USAGE, { from: '', rounds: 1, clients: 4, json: false });
const say = sayUnless(options.json);
const GATEWAYS = 3;
/** Before and after the upgrade. */
const CALLS = 200;

const cluster = await Cluster.start(GATEWAYS, say, options.from === '' ? undefined : options.from);
try {
  process.exitCode = await upgrade();
} finally {
  await cluster.stop();
}

async function upgrade(): Promise<number> {
  const keyOf = (wanted: string): string => cluster.keys.find(({ product }) => product === wanted)?.key ?? '';
  await untilStreaming(keyOf('grpc'));
  const { clients } = options;
  const sockets = new SocketLoad(`${cluster.httpUrl.replace('http', 'ws')}/v1/ws`, keyOf('rpc'), clients);
  const loads = {
    HTTP: new RequestLoad(`${cluster.httpUrl}/v1/rpc`, keyOf('rpc'), clients),
    WebSocket: sockets,
    gRPC: new GrpcLoad(cluster.grpcUrl, keyOf('grpc'), clients),
  };
  const stream = new StreamLoad(cluster.grpcUrl, keyOf('grpc'));
  const all = Object.values(loads);
  await Promise.all(all.map((load) => load.answered(CALLS)));
  const startedAt = performance.now();
  for (let round = 0; round < options.rounds; round++) await cluster.roll(say);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  await Promise.all(all.map((load) => load.answered(CALLS)));
  const results = await Promise.all(
    Object.entries(loads).map(async ([name, load]) => [name, await load.stop()] as const),
  );
  await stream.stop();
  report(results, seconds, sockets, stream);
  return results.every(([, { failed }]) => failed.length === 0) ? 0 : 1;
}

/** Older versions are ready before they have a slot. */
async function untilStreaming(key: string): Promise<void> {
  for (const { ready } of cluster.gateways.values()) {
    const client = new GrpcClient(ready.grpcUrl);
    await eventually(async () => Buffer.isBuffer(await client.call(key, 'GetSlot')), 'a gateway has a slot');
    client.close();
  }
}

function report(
  results: readonly (readonly [string, LoadResult])[],
  seconds: number,
  { counts: { closed, resent } }: SocketLoad,
  { ended, messages, longestGapMs }: StreamLoad,
): void {
  const rows = results.map(([name, { answeredAt, failed, slowestMs }]) => ({
    ...{ name, answered: answeredAt.length, failed: failed.length, slowestMs: Math.round(slowestMs) },
    failures: failed.slice(0, 5),
  }));
  const restarts = { seconds, rounds: options.rounds, socketsClosed: closed, callsResent: resent };
  const streams = { streamsEnded: ended, messages, longestGapMs: Math.round(longestGapMs) };
  if (options.json) process.stdout.write(`${JSON.stringify({ rows, restarts, streams })}\n`);
  say(`
| interface | calls answered | failed | slowest call |
|---|--:|--:|--:|`);
  for (const { name, answered, failed, slowestMs } of rows)
    say(`| ${name} | ${answered} | ${failed} | ${slowestMs} ms |`);
  say(`
${options.rounds * GATEWAYS} restarts in ${seconds} s;
${closed} WebSockets closed with 1012 and opened again, ${resent} calls sent again on them;
${ended} gRPC streams ended, ${messages} messages, at most ${streams.longestGapMs} ms without a stream.`);
  for (const { name, failures } of rows) for (const failure of failures) say(`${name}: ${failure}`);
}
