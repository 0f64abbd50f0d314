import { parseArgs } from 'node:util';

/** Benchmarks by name. Each compares Solway with an alternative in the same run, as ratios. */
const benchmarks = {
  access: {
    about:
      'authentication, limits and metering with 1, 10,000 and 1,000,000 keys; compared with a Map and a JWT',
    load: async () => (await import('./access/access.ts')).runAccessBench,
  },
  rpc: {
    about:
      'POST /v1/rpc through the gateway, nginx, nginx with Lua that does the same work, HAProxy and eRPC',
    load: async () => (await import('./rpc/rpc.ts')).runRpcBench,
  },
  links: {
    about: 'requests to a node with the HTTP client of Solway, and with undici',
    load: async () => (await import('./upstream-client/upstream-client.ts')).runUpstreamClientBench,
  },
  cache: {
    about:
      'repeated reads of one account through the gateway, nginx with proxy_cache, and nginx without;\n             and the calls that reach a node when 1,000 clients send the same call',
    load: async () => (await import('./cache/cache.ts')).runCacheBench,
  },
  websocket: {
    about:
      'GET /v1/ws: notifications to many subscribers, compared with a ws server that stringifies for each',
    load: async () => (await import('./websocket/websocket.ts')).runWebSocketBench,
  },
  grpc: {
    about:
      'geyser.Geyser/Subscribe: updates to many streams, compared with @grpc/grpc-js and encoded messages',
    load: async () => (await import('./grpc/grpc.ts')).runGrpcBench,
  },
  shreds: {
    about: 'lead of the shred stage over the standard stream for 1,000 transactions',
    load: async () => (await import('./shreds/shreds.ts')).runShredsBench,
  },
  home: {
    about: 'dashboard Home with ten million usage rows: its queries, and first paint in a browser',
    load: async () => (await import('./dashboard/dashboard.ts')).runDashboardBench,
  },
  lists: {
    about: 'every list of the control API with many keys, customers and log entries, over HTTP',
    load: async () => (await import('./lists/lists.ts')).runListsBench,
  },
} as const;

const USAGE = `Usage: npm run bench -- <name> [--rounds N] [--seconds N] [--cores N,N] [--record] [--json]

${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

  --rounds N    interleaved rounds (default 5)
  --seconds N   seconds of load per variant and round (default 4)
  --cores N,N   with rpc: throughput with one worker per CPU, for each number of CPUs
  --keys N, --customers N, --log-rows N
                with lists: size of the database (default 10000, 2000 and 200000)
  --store NAME  with lists: sqlite, postgres or clickhouse (default sqlite)
  --folder DIR  with lists: keep the data here, and reuse it
  --only REGEX  with lists: only lists whose name matches this regular expression
  --record      write the result to bench/results
  --json        print the result as JSON
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    cores: { type: 'string' },
    keys: { type: 'string' },
    customers: { type: 'string' },
    'log-rows': { type: 'string' },
    store: { type: 'string' },
    folder: { type: 'string' },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const name = positionals[0];
const listsOptions = ['keys', 'customers', 'log-rows', 'store', 'folder', 'only'] as const;
const isMisplaced =
  (values.cores !== undefined && name !== 'rpc') ||
  (listsOptions.some((option) => values[option] !== undefined) && name !== 'lists');
if (values.help || name === undefined || !Object.hasOwn(benchmarks, name) || isMisplaced) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  record: values.record,
  json: values.json,
  sizes: {
    keys: Number(values.keys ?? 10_000),
    customers: Number(values.customers ?? 2_000),
    logRows: Number(values['log-rows'] ?? 200_000),
  },
  store: values.store ?? 'sqlite',
  folder: values.folder ?? null,
  only: values.only ?? '',
};
if (values.cores === undefined) {
  const run = await benchmarks[name as keyof typeof benchmarks].load();
  await run(options);
} else {
  const { runCoresBench } = await import('./rpc/cores.ts');
  await runCoresBench(options, values.cores.split(',').map(Number));
}
