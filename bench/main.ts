import { parseArgs } from 'node:util';

/** Benchmarks by name. Each compares with something a user would pick, in the same run, as ratios. */
const benchmarks = {
  access: {
    about:
      'who asks, may they, what do they owe: with 1, 10,000 and 1,000,000 keys, and a Map or a signed token',
    load: async () => (await import('./access/access.ts')).runAccessBench,
  },
  rpc: {
    about: 'POST /v1/rpc: the gateway, and nginx and HAProxy with a map of keys; the node alone for latency',
    load: async () => (await import('./rpc/rpc.ts')).runRpcBench,
  },
  links: {
    about: 'requests to a node over our own connections, and over those of undici',
    load: async () => (await import('./upstream-client/upstream-client.ts')).runUpstreamClientBench,
  },
  cache: {
    about:
      'one account asked for again and again: the gateway, nginx with proxy_cache, and nginx without;\n             and what reaches a node when 1,000 clients ask the same',
    load: async () => (await import('./cache/cache.ts')).runCacheBench,
  },
  websocket: {
    about: 'GET /v1/ws: notifications to many subscribers, and a plain ws server that stringifies for each',
    load: async () => (await import('./websocket/websocket.ts')).runWebSocketBench,
  },
  grpc: {
    about: 'geyser.Geyser/Subscribe: updates to many streams, and a @grpc/grpc-js server with ready messages',
    load: async () => (await import('./grpc/grpc.ts')).runGrpcBench,
  },
  shreds: {
    about: 'how much earlier 1,000 transactions come on the shred stage than on the standard stream',
    load: async () => (await import('./shreds/shreds.ts')).runShredsBench,
  },
  home: {
    about: 'Home with ten million rows of usage: what it asks for, and its first paint in a browser',
    load: async () => (await import('./dashboard/dashboard.ts')).runDashboardBench,
  },
} as const;

const USAGE = `Usage: npm run bench -- <name> [--rounds N] [--seconds N] [--record] [--json]

${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

  --rounds N    interleaved rounds (default 5)
  --seconds N   seconds of load per variant and round (default 4)
  --record      write the result to bench/results
  --json        print the result as JSON
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    record: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const name = positionals[0];
if (values.help || name === undefined || !Object.hasOwn(benchmarks, name)) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const run = await benchmarks[name as keyof typeof benchmarks].load();
await run({
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  record: values.record,
  json: values.json,
});
