import { workerCount } from '../../app/cluster/worker-configuration.ts';
import { WORKER_VARIABLE } from '../../app/cluster/worker-context.ts';
import { deprioritizeHelperThreads, raiseInliningLimit } from '../../app/process/helper-threads.ts';
import {
  restUrl,
  rpcUrl,
  type Service,
  type ServiceOptions,
  startService,
  wsUrl,
} from '../../app/service.ts';
import { logLevelOf, logPrintedWarnings, openLog } from '../../app/telemetry/log-output.ts';
import type { Logger } from '../../base/log.ts';
import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import { ArgumentsError } from '../../config/errors.ts';
import { configurationArguments, configurationOptions, parseArguments } from '../../config/sources.ts';
import { type Command, exitCodes, rejectArgument, type Terminal } from '../command.ts';
import { waitForShutdown } from '../wait-for-shutdown.ts';

const help = `Usage: solway up [options]

Runs the service: JSON-RPC, WebSocket subscriptions, REST and gRPC streams behind API keys, in front of the
nodes of the configuration and of "solway upstream add". The first start creates one key per product and
shows each key once.

Options:
  --config FILE        configuration file (default: SOLWAY_CONFIG, else solway.toml if it exists)
  --upstream URL       a JSON-RPC node; repeat for more. Replaces the nodes of the file
    --ws URL           its PubSub WebSocket, or off (default: derived from URL as clients do)
    --grpc URL         its Yellowstone gRPC address
    --network NAME     its network (default: the network of the other nodes, else networks.default)
  --dev                development mode: run an embedded ledger if no node is configured. Rejected once
                       this database has served nodes; ignored when nodes are configured
  --host HOST          address to listen on (default 127.0.0.1)
  --port PORT          port to listen on (default 8080; 0: any free port)
  --workers NUMBER     worker processes (default 1), or auto for one per processor
  --grpc-port PORT     port of the gRPC listener (default 50051; 0: any free port)
  --data-dir DIR       folder for keys, usage and the embedded ledger (default solway-data)
  --log-level LEVEL    trace, debug, info, warn, error, fatal or silent (default info; warn on a terminal)
  --json               print one line of JSON when ready, instead of text

Examples:
  solway up --dev
  solway up --upstream https://host/path --upstream https://other-host/path
  solway up --config /etc/solway.toml
`;

const options = { ...configurationOptions, json: { type: 'boolean' } } as const;

const curl = (url: string, key: string): string =>
  `curl ${url} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getHealth"}'`;

/** Command that reads a balance. Any wallet works; this is the address of the System program. */
const restCall = (url: string, key: string): string =>
  `curl '${url}/wallet/balance?wallet=11111111111111111111111111111111' -H 'x-api-key: ${key}'`;

/** Command that creates a transaction on the embedded ledger, which otherwise has none. Any address works. */
const airdrop = (url: string, key: string): string =>
  `curl ${url} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"requestAirdrop","params":["83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri",1000000000]}'`;

const SLOTS = '{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}';

/** Node.js 22 and later provide WebSocket; in the source tree, `npx node` runs the version from node_modules. */
const NODE = import.meta.url.endsWith('.ts') ? 'npx node' : 'node';

const listen = (url: string, key: string): string =>
  `${NODE} -e 'const s = new WebSocket("${url}?api-key=${key}"); s.onopen = () => s.send(\`${SLOTS}\`); s.onmessage = ({ data }) => console.log(data)'`;

/** Command that prints a stream. Server reflection makes .proto files unnecessary. */
function grpcurl(url: string, key: string, method: string, request: string): string {
  const { protocol, host } = new URL(url);
  const plaintext = protocol === 'http:' ? '-plaintext ' : '';
  return `grpcurl ${plaintext}-H 'x-token: ${key}' -d '${request}' ${host} geyser.Geyser/${method}`;
}

const NO_SHRED_SOURCE = 'no shred source is configured; add one to [shreds], see docs/how-to/shreds.md';

const ALL_SLOTS = '{"slots":{"all":{}}}';
const ALL_TRANSACTIONS = '{"deshred_transactions":{"all":{}}}';

type Product = Service['newKeys'][number]['key']['product'];

/** For each product, a description of its key and commands to paste. */
const usage: Readonly<Record<Product, (service: Service, secret: string) => string[]>> = {
  rpc: (service, secret) => [
    `JSON-RPC, WebSocket and REST; API reference: ${service.url}/docs/rest-api`,
    curl(rpcUrl(service), secret),
    listen(wsUrl(service), secret),
    restCall(restUrl(service), secret),
  ],
  grpc: ({ grpcUrl }, secret) =>
    grpcUrl === null
      ? ['gRPC streams (Yellowstone): disabled; set grpc.enabled = true']
      : [
          'gRPC streams (Yellowstone), for any Yellowstone client; for TypeScript see docs/reference/grpc.md',
          grpcurl(grpcUrl, secret, 'Subscribe', ALL_SLOTS),
        ],
  fs: (service, secret) => shredStageUsage(service, secret),
};

/** Keys for the shred stage can be used only with gRPC and a shred source. */
function shredStageUsage({ grpcUrl, hasShredStage }: Service, secret: string): string[] {
  if (grpcUrl === null) return ['shred-stage streams: disabled; set grpc.enabled = true'];
  if (!hasShredStage) return [`shred-stage streams: rejected, ${NO_SHRED_SOURCE}`];
  return [
    'shred-stage streams: transactions before execution; for TypeScript see docs/reference/shred-stream.md',
    grpcurl(grpcUrl, secret, 'SubscribeDeshred', ALL_TRANSACTIONS),
  ];
}

/** Explains how to create a transaction. Without one, transaction streams of the embedded ledger stay silent. */
function exampleTransaction(service: Service): string {
  const rpc = service.newKeys.find(({ key }) => key.product === 'rpc');
  if (rpc === undefined) return '';
  const line = airdrop(rpcUrl(service), rpc.secret);
  const note =
    'The embedded ledger runs only your transactions. Streams of transactions stay silent until you send one:';
  return `\n  ${note}\n    ${line}\n`;
}

function describeKeys(service: Service): string {
  if (service.newKeys.length === 0) {
    return '  Keys: unchanged. List them with "solway keys list", create one with "solway keys create".\n';
  }
  const lines = service.newKeys.map(({ secret, key }) => {
    const lines = usage[key.product](service, secret).map((line) => `  ${line}`);
    return `\n    ${[secret, ...lines].join('\n    ')}\n`;
  });
  return `  API keys, shown only once; store them now:\n${lines.join('')}`;
}

function describe(service: Service, configuration: Configuration): string {
  const { isDevelopment } = service;
  const nodes = isDevelopment ? ['the embedded ledger'] : service.nodes.map(({ name }) => name);
  const hasNone = service.grpcUrl !== null && !service.hasShredStage;
  return `
Solway is ready.

  JSON-RPC: ${rpcUrl(service)}
  WebSocket: ${wsUrl(service)}
  REST: ${restUrl(service)}${service.grpcUrl === null ? '' : `\n  gRPC: ${service.grpcUrl}`}

${describeMode(service, configuration)}  Upstream: ${nodes.join(', ')}
${describeUnresponsive(service)}  Data: ${configuration.dataDir}
${hasNone ? `  Shred stage: off, ${NO_SHRED_SOURCE}\n` : ''}
${describeSetup(service)}${describeKeys(service)}${isDevelopment ? exampleTransaction(service) : ''}
  Stop with Ctrl+C.
`;
}

function describeUnresponsive({ nodes }: Service): string {
  const unresponsive = nodes.filter(({ hasResponded }) => !hasResponded).map(({ name }) => name);
  if (unresponsive.length === 0) return '';
  return `  NOT RESPONDING: ${unresponsive.join(', ')}. Run "solway doctor" for the cause. Calls resume when they respond.\n`;
}

function describeMode({ isDevelopment }: Service, { dev }: Configuration): string {
  if (isDevelopment) return `  DEVELOPMENT MODE: calls go to an embedded ledger, not to a Solana network.\n`;
  return dev ? '  --dev is ignored because nodes are configured.\n' : '';
}

function describeSetup({ setupUrl }: Service): string {
  return setupUrl === null
    ? ''
    : `  Create the operator account with this link within 7 days:\n    ${setupUrl}\n\n`;
}

function readyLine(service: Service): string {
  const keys = service.newKeys.map(({ secret, key }) => ({ product: key.product, id: key.id, key: secret }));
  const { url, grpcUrl, setupUrl } = service;
  const mode = service.isDevelopment ? 'development' : 'production';
  const urls = { url, rpcUrl: rpcUrl(service), wsUrl: wsUrl(service), restUrl: restUrl(service), grpcUrl };
  return `${JSON.stringify({ event: 'ready', mode, ...urls, setupUrl, keys })}\n`;
}

/** Drops the `--dev` that `npm start` adds if nodes are configured: the user did not ask for development mode. */
export const withoutNpmDev = (
  configuration: Configuration,
  { npm_lifecycle_event: script }: Terminal['environment'],
): Configuration =>
  script === 'start' && configuration.upstreams.length > 0 ? { ...configuration, dev: false } : configuration;

/** Rejects `npm start --port 9000`: npm takes the option, and the program never receives it. */
function checkNpm({ npm_lifecycle_event: script, ...environment }: Terminal['environment']): void {
  if (script !== 'start') return;
  const takenOption = Object.keys(configurationOptions).find(
    (name) => environment[`npm_config_${name.replaceAll('-', '_')}`] !== undefined,
  );
  if (takenOption === undefined) return;
  throw new ArgumentsError(
    `npm consumed --${takenOption}. Put "--" before the options: npm start -- --${takenOption} …`,
  );
}

async function start(options: ServiceOptions): Promise<Service> {
  raiseInliningLimit();
  if (workerCount(options.configuration) === 1) {
    deprioritizeHelperThreads(1);
    return startService(options);
  }
  const { startCluster } = await import('../../app/cluster/primary.ts');
  return startCluster(options);
}

async function work({ environment }: Terminal, json: boolean): Promise<number> {
  raiseInliningLimit();
  const { runWorker } = await import('../../app/cluster/worker.ts');
  const started = await runWorker({
    environment,
    shutdown: waitForShutdown(),
    openLog: (section) => openServiceLog(section, json),
    logLevelOf: (section) => logLevelOf(section, process.stderr, !json),
  });
  return started ? exitCodes.ok : exitCodes.problem;
}

function openServiceLog(section: Configuration['log'], isJson: boolean): Logger {
  const log = openLog(section, process.stderr, !isJson);
  logPrintedWarnings(log);
  return log;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  if (terminal.environment[WORKER_VARIABLE] !== undefined && process.connected)
    return work(terminal, args.includes('--json'));
  checkNpm(terminal.environment);
  const parsed = parseArguments(args, options);
  rejectArgument('up', parsed.positionals[0]);
  const read = () =>
    withoutNpmDev(
      loadConfiguration(configurationArguments(parsed), terminal.environment),
      terminal.environment,
    );
  const configuration = read();
  const json = parsed.values.json === true;
  const log = openServiceLog(configuration.log, json);
  const shutdown = waitForShutdown();
  const service = await start({
    configuration,
    environment: terminal.environment,
    program: [process.execPath, process.argv[1] ?? ''],
    log,
    reloadSource: { read, logLevelOf: (section) => logLevelOf(section, process.stderr, !json) },
  });
  process.on('SIGHUP', () => void service.reload());
  terminal.out(json ? readyLine(service) : describe(service, configuration));
  log.info({ url: service.url }, 'Ready');
  const reason = await shutdown;
  log.info({ reason }, 'Stopping');
  await service.stop();
  log.info('Stopped');
  return exitCodes.ok;
}

export const command: Command = { help, run };
