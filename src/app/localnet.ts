import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import { startLocalnetServer } from '../localnet/http/server.ts';
import { LedgerInUseError } from '../localnet/ledger-lock.ts';
import type { Genesis } from '../localnet/node.ts';
import { type LocalNodeOptions, openLocalNode } from '../localnet/open.ts';

export type LocalnetOptions = LocalNodeOptions &
  Readonly<{
    host: string;
    /** 0 takes a free port. */
    rpcPort: number;
    /** How long to wait for a process that has the ledger open, and may be about to end. */
    inUseWaitMs: number;
    log: Logger;
  }>;

/** The embedded ledger as a node of its own. */
export type Localnet = Readonly<{
  rpcPort: number;
  genesis: Genesis;
  /** Slot that froze last. */
  tip(): bigint;
  /** Finishes what is under way, makes everything durable, lets go of the ledger. */
  stop(): Promise<void>;
}>;

/** What keeps the door from opening, in words that say what to do. */
function doorProblem(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(
        `port ${port} of ${host} is taken: stop what listens there or choose another with --rpc-port`,
      );
    case 'EACCES':
      return new Error(`this user may not listen on port ${port}: choose one from 1024 up with --rpc-port`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`this machine does not have the address ${host}: correct --bind-address`);
    default:
      return error;
  }
}

const IN_USE_PAUSE_MS = 100;

async function openWhenFree(options: LocalNodeOptions, waitMs: number): ReturnType<typeof openLocalNode> {
  const end = performance.now() + waitMs;
  for (;;) {
    try {
      return await openLocalNode(options);
    } catch (error) {
      // Only a ledger whose gateway is gone is about to end by itself.
      const passing = error instanceof LedgerInUseError && error.holderIsOrphan;
      if (!passing || performance.now() >= end) throw error;
      await delay(IN_USE_PAUSE_MS);
    }
  }
}

/** Opens the ledger and its RPC door. @throws Error when the ledger or the port cannot be had. */
export async function startLocalnet(settings: LocalnetOptions): Promise<Localnet> {
  const { host, rpcPort, inUseWaitMs, ...options } = settings;
  const node = await openWhenFree(options, inUseWaitMs);
  try {
    const server = await startLocalnetServer(node, { host, port: rpcPort, log: options.log });
    node.contact = { gossip: null, rpc: `${host}:${server.port}`, pubsub: null };
    const stop = async () => {
      await server.close();
      await node.stop();
    };
    return { rpcPort: server.port, genesis: node.genesis, tip: () => node.bank('processed').slot, stop };
  } catch (error) {
    await node.stop();
    throw doorProblem(error, host, rpcPort);
  }
}
