import type { Logger } from '../base/log.ts';
import { startLocalnetServer } from '../localnet/http/server.ts';
import type { Genesis } from '../localnet/node.ts';
import { type LocalNodeOptions, openLocalNode } from '../localnet/open.ts';

export type LocalnetOptions = LocalNodeOptions &
  Readonly<{
    host: string;
    /** 0 takes a free port. */
    rpcPort: number;
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

/** Opens the ledger and its RPC door. @throws Error when the ledger or the port cannot be had. */
export async function startLocalnet({ host, rpcPort, ...options }: LocalnetOptions): Promise<Localnet> {
  const node = await openLocalNode(options);
  try {
    const server = await startLocalnetServer(node, { host, port: rpcPort, log: options.log });
    const stop = async () => {
      await server.close();
      await node.stop();
    };
    return { rpcPort: server.port, genesis: node.genesis, tip: () => node.bank('processed').slot, stop };
  } catch (error) {
    await node.stop();
    throw error;
  }
}
