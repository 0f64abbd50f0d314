import { setTimeout as delay } from 'node:timers/promises';
import { LedgerInUseError } from '../../../packages/localnet/src/genesis/ledger-lock.ts';
import {
  type LocalNodeOptions,
  type OpenLocalNode,
  openLocalNode,
} from '../../../packages/localnet/src/genesis/open.ts';
import { startLocalnetServer } from '../../../packages/localnet/src/http/server.ts';
import {
  type FaucetServer,
  type SignAirdrop,
  startFaucetServer,
} from '../../../packages/localnet/src/network/faucet-server.ts';
import {
  openShredSender,
  type ShredSender,
  type ShredTarget,
} from '../../../packages/localnet/src/network/shred-sender.ts';
import { bindSilentPort, type SilentPort } from '../../../packages/localnet/src/network/silent-port.ts';
import {
  type Contact,
  type Genesis,
  type SilentService,
  silentServices,
} from '../../../packages/localnet/src/node.ts';
import { startPubsubServer } from '../../../packages/localnet/src/pubsub/server.ts';
import type { RpcHandler } from '../../../packages/localnet/src/rpc-handler.ts';
import { rpcHandlers } from '../../../packages/localnet/src/rpc-handlers.ts';
import type { Logger } from '../../base/log.ts';
import { localnetDefaults } from '../../config/schema-upstream.ts';
import { openOnConsecutivePorts, openOnFreePorts } from './find-free-ports.ts';
import { writeValidatorLog } from './genesis-files.ts';
import type { LocalnetGeyser } from './localnet-geyser.ts';
import { warpTo } from './warp-slot.ts';

export type LocalnetOptions = LocalNodeOptions &
  Readonly<{
    host: string;
    /** Port for JSON-RPC; WebSockets use the next port. 0: any two consecutive free ports. */
    rpcPort: number;
    /** Port for the faucet; 0: any free port. Defaults to null: no faucet. */
    faucetPort?: number | null;
    /** Ports to try in turn for Geyser; 0: any free port. Defaults to none: no Geyser server. */
    geyserPorts?: readonly number[];
    shredsTo?: readonly ShredTarget[];
    /** Minimum milliseconds between a shred and its execution. Defaults to `localnetDefaults.shredLeadMs`. */
    shredLeadMs?: number;
    /** UDP port of the gossip address. Defaults to 0: any free port. */
    gossipPort?: number;
    /** Blocks without transactions of clients are created up to this slot before the ledger listens. Defaults to 0. */
    warpSlot?: number;
    /** URL of the cluster whose accounts the ledger reads when they are first needed. Defaults to null: none. */
    forkUrl?: string | null;
    /** Whether to serve the methods for tests, with which any caller can change the state. Defaults to false. */
    testMethods?: boolean;
    /** Maximum time to wait for another process to release the ledger. */
    inUseWaitMs: number;
    log: Logger;
  }>;

export type Localnet = Readonly<{
  rpcPort: number;
  /** The port after `rpcPort`. */
  pubsubPort: number;
  faucetPort: number | null;
  geyserPort: number | null;
  genesis: Genesis;
  /** Newest frozen slot. */
  tip(): bigint;
  stop(): Promise<void>;
}>;

function listenProblem(error: unknown, host: string, port: number, rpcPort: number): unknown {
  const which = port === rpcPort ? '' : ` (WebSockets, the port after --rpc-port ${rpcPort})`;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(
        `port ${port} of ${host}${which} is in use: stop the other program or choose another port with --rpc-port`,
      );
    case 'ERR_SOCKET_BAD_PORT':
      return new Error(`no port after ${rpcPort} for WebSockets: choose a lower one with --rpc-port`);
    case 'EACCES':
      return new Error(`no permission to listen on port ${port}: choose a port above 1023 with --rpc-port`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`this machine does not have the address ${host}: correct --bind-address`);
    default:
      return error;
  }
}

async function handlersOf(node: OpenLocalNode, { testMethods }: LocalnetOptions) {
  let handlers: Readonly<Record<string, RpcHandler>> = rpcHandlers;
  if (testMethods === true) {
    const { testHandlers } = await import('../../../packages/localnet/src/test-methods/test-handlers.ts');
    handlers = { ...handlers, ...testHandlers(node) };
  }
  if (node.fork === null) return handlers;
  const { withFork } = await import('../../../packages/localnet/src/fork/forked-handlers.ts');
  return withFork(handlers, node);
}

/** A client waits for these reads, so they may not take long. */
const FORK_LIMITS = { timeoutMs: 10_000, attempts: 3 };

async function remoteOf({ forkUrl = null }: LocalnetOptions): Promise<LocalNodeOptions['fork']> {
  if (forkUrl === null) return null;
  const { RemoteAccounts } = await import('../../../packages/localnet/src/fork/remote-accounts.ts');
  return new RemoteAccounts(forkUrl, FORK_LIMITS);
}

async function openServers(node: OpenLocalNode, options: LocalnetOptions) {
  const { host, rpcPort, log } = options;
  const handlers = await handlersOf(node, options);
  let lastPort = rpcPort;
  const at = (port: number) => {
    lastPort = port;
    return { host, port, log };
  };
  const openRpc = (port: number) => startLocalnetServer(node, { ...at(port), handlers });
  const openPubsub = (port: number) => startPubsubServer(node, at(port));
  try {
    if (rpcPort === 0) return await openOnFreePorts(openRpc, openPubsub);
    return await openOnConsecutivePorts(rpcPort, openRpc, openPubsub);
  } catch (error) {
    throw listenProblem(error, host, lastPort, rpcPort);
  }
}

const IN_USE_PAUSE_MS = 100;

async function openWhenFree(options: LocalNodeOptions, waitMs: number): ReturnType<typeof openLocalNode> {
  const end = performance.now() + waitMs;
  for (;;) {
    try {
      return await openLocalNode(options);
    } catch (error) {
      // Waits only for a ledger whose gateway has exited, because such a ledger stops by itself.
      const isTransient = error instanceof LedgerInUseError && error.holderIsOrphan;
      if (!isTransient || performance.now() >= end) throw error;
      await delay(IN_USE_PAUSE_MS);
    }
  }
}

const portProblem = (host: string, port: number, option: string) => (error: unknown) => {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  throw new Error(
    `port ${port} of ${host} is in use: stop the other program or choose another port with ${option}`,
  );
};

async function openFaucet(
  node: OpenLocalNode,
  { host, faucetPort: port = null, log }: LocalnetOptions,
): Promise<FaucetServer | null> {
  if (port === null) return null;
  const sign: SignAirdrop = (to, amount, blockhash) => node.signAirdrop(to, amount, blockhash).wire;
  return startFaucetServer({ host, port, sign, log }).catch(portProblem(host, port, '--faucet-port'));
}

const bindService = (
  service: SilentService,
  { host, gossipPort = 0, log }: LocalnetOptions,
): Promise<SilentPort> => {
  const port = service === 'gossip' ? gossipPort : 0;
  return bindSilentPort(host, port, log).catch(portProblem(host, port, '--gossip-port'));
};

async function openGeyser(
  node: OpenLocalNode,
  { host, geyserPorts: ports = [], log }: LocalnetOptions,
): Promise<LocalnetGeyser | null> {
  const [first] = ports;
  if (first === undefined) return null;
  // Imported only if needed, because loading the gRPC server slows down startup.
  const { openLocalnetGeyser } = await import('./localnet-geyser.ts');
  return openLocalnetGeyser(node, { host, ports, log }).catch(portProblem(host, first, '--geyser-port'));
}

/** A failure is not fatal: only tools that read validator.log need the file. */
function tryWriteValidatorLog({ ledgerDir, log }: LocalnetOptions, genesis: Genesis, contact: Contact): void {
  try {
    writeValidatorLog(ledgerDir, genesis, contact, new Date());
  } catch (error) {
    log.warn({ err: error, dir: ledgerDir }, 'Failed to write validator.log');
  }
}

async function openShreds({ shredsTo: targets = [], log }: LocalnetOptions): Promise<ShredSender | null> {
  if (targets.length === 0) return null;
  return openShredSender({ targets, log }).catch((cause: unknown) => {
    const { code, hostname } = cause as NodeJS.ErrnoException & { hostname?: string };
    if (code !== 'ENOTFOUND') throw cause;
    throw new Error(`unknown host ${hostname}: correct --shreds-to`, { cause });
  });
}

/** Opens the ledger and its listeners. @throws Error when the ledger or a port is unavailable. */
export async function startLocalnet(settings: LocalnetOptions): Promise<Localnet> {
  const { host, rpcPort: _rpcPort, faucetPort: _faucetPort, inUseWaitMs, ...options } = settings;
  const shreds = await openShreds(settings);
  const sending =
    shreds === null
      ? {}
      : { sendShreds: shreds.send, shredLeadMs: settings.shredLeadMs ?? localnetDefaults.shredLeadMs };
  const fork = (await remoteOf(settings)) ?? null;
  const node = await openWhenFree({ ...options, ...sending, fork }, inUseWaitMs).catch(
    async (error: unknown) => {
      await shreds?.close();
      throw error;
    },
  );
  const listeners: { close(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    // Closes the listeners first, because they read from the node.
    await Promise.all(listeners.map((listener) => listener.close()));
    await node.stop();
    await shreds?.close();
  };
  try {
    await warpTo(node, BigInt(settings.warpSlot ?? 0));
    const faucet = await openFaucet(node, settings);
    if (faucet !== null) listeners.push(faucet);
    const services: [SilentService, number][] = [];
    for (const service of silentServices) {
      const bound = await bindService(service, settings);
      listeners.push(bound);
      services.push([service, bound.port]);
    }
    const geyser = await openGeyser(node, settings);
    if (geyser !== null) listeners.push(geyser);
    const [rpc, pubsub] = await openServers(node, settings);
    listeners.push(rpc, pubsub);
    const at = (port: number): string => `${host}:${port}`;
    const silent = Object.fromEntries(services.map(([service, port]) => [service, at(port)]));
    const contact = {
      ...(silent as Record<SilentService, string>),
      rpc: at(rpc.port),
      pubsub: at(pubsub.port),
    };
    node.contact = contact;
    const { genesis } = node;
    tryWriteValidatorLog(settings, genesis, contact);
    const tip = () => node.bank('processed').slot;
    const optionalPorts = { faucetPort: faucet?.port ?? null, geyserPort: geyser?.port ?? null };
    return { rpcPort: rpc.port, pubsubPort: pubsub.port, ...optionalPorts, genesis, tip, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
