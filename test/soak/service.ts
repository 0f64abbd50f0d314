import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Agent } from 'undici';
import { openOnFreePorts } from '../../src/app/localnet/find-free-ports.ts';
import type { Product } from '../../src/protocol/product.ts';
import { buildWhenNeeded } from '../../web/build.ts';
import { ledgerPid } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { createSendRequest, type SendRequest } from './ledger-truth.ts';

/** Slots stored for replay: few, so that memory settles soon. */
const REPLAY_SLOTS = 60;
/** Startup timeout on a loaded machine. */
const READY_MAX_MS = 120_000;
const METRICS_TOKEN = 'soak-metrics-token';

/** The program with its embedded ledger and all interfaces. */
export type SoakedService = Readonly<{
  running: RunningService;
  keyOf: (product: Product) => string;
  setupUrl: string;
  metricsToken: string;
  request: SendRequest;
  /** JSON-RPC, directly to the ledger. */
  requestLedger: SendRequest;
  ledgerPid: () => number | null;
  /** Closes the connections to both. */
  close: () => void;
}>;

async function listening(port: number) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function freePairOfPorts(): Promise<number> {
  const pair = await openOnFreePorts(listening, listening);
  for (const { close } of pair) await close();
  return pair[0].port;
}

const configurationWith = (rpcPort: number, slotMs: number): string => `
[localnet]
rpc_port = ${rpcPort}
slot_ms = ${slotMs}

[replay]
slots = ${REPLAY_SLOTS}

[rest]
requests_per_minute = 1_000_000

[plans.default]
name = "default"
rpc_per_second = 100_000
rpc_burst = 100_000

[metrics]
token = "${METRICS_TOKEN}"
`;

/** Starts the service with limits above the load. */
export async function startSoakedService(slotMs: number): Promise<SoakedService> {
  await buildWhenNeeded();
  const rpcPort = await freePairOfPorts();
  const running = await startService({
    configuration: configurationWith(rpcPort, slotMs),
    timeoutMs: READY_MAX_MS,
  });
  const { ready, key, dataDir } = running;
  const agent = new Agent();
  return {
    running,
    keyOf: (product) => ready.keys.find((one) => one.product === product)?.key ?? '',
    setupUrl: (ready as typeof ready & { setupUrl: string }).setupUrl,
    metricsToken: METRICS_TOKEN,
    request: createSendRequest(`${ready.rpcUrl}?api-key=${key}`, agent),
    requestLedger: createSendRequest(`http://127.0.0.1:${rpcPort}/`, agent),
    ledgerPid: () => ledgerPid(dataDir),
    close: () => void agent.destroy(),
  };
}
