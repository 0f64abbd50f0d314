import type { OpenLocalNode } from '../../../packages/localnet/src/genesis/open.ts';
import type { Logger } from '../../base/log.ts';
import { updateKinds } from '../../protocol/geyser/raw-update.ts';
import { GrpcServer } from '../../servers/grpc/server.ts';
import { UnauthenticatedHandler } from '../../streams/geyser/geyser-handler.ts';
import { GeyserHub } from '../../streams/geyser/geyser-hub.ts';
import { geyserHubOptions } from '../../streams/geyser/geyser-hub-options.ts';
import { LedgerUpdates } from '../../streams/geyser/ledger-updates.ts';
import type { LedgerEvent } from '../../streams/ledger-event.ts';
import { geyserVersion } from '../upstreams/geyser-version.ts';

export type LocalnetGeyser = Readonly<{ port: number; close(): Promise<void> }>;

type LocalnetGeyserOptions = Readonly<{
  host: string;
  /** Ports to try in turn until one is free; 0: any free port. */
  ports: readonly number[];
  /** Drain time on close. Defaults to 1 s. */
  drainGraceMs?: number;
  log: Logger;
}>;

function slotOf(event: LedgerEvent) {
  if (event.kind === 'block') return event.block.slot;
  return event.kind === 'vote' ? null : event.slot;
}

/** Passes ledger events to the hub. On an error, subscribers lose the slot, but the ledger continues. */
function followLedger(node: OpenLocalNode, hub: GeyserHub, log: Logger): () => void {
  const updates = new LedgerUpdates(hub);
  return node.follow((event) => {
    try {
      updates.onEvent(event);
    } catch (error) {
      log.error({ err: error, event: event.kind }, 'Geyser event of the embedded ledger failed');
      const slot = slotOf(event);
      if (slot !== null) hub.onLost(slot, slot, updateKinds);
    }
  }, geyserHubOptions.replaySlots);
}

async function listen(hub: GeyserHub, node: OpenLocalNode, port: number, options: LocalnetGeyserOptions) {
  const { host, log } = options;
  const health = (service: string): boolean => node.failure === null && !service.startsWith('shredstream');
  const server = new GrpcServer({ handler: new UnauthenticatedHandler(hub), health, log }, { host, port });
  return { server, port: (await server.listen()).port };
}

/**
 * Serves Geyser without API keys. Loads rooted slots first, so that streams can replay slots from before a restart.
 * @throws the system error when no port is free
 */
export async function openLocalnetGeyser(
  node: OpenLocalNode,
  options: LocalnetGeyserOptions,
): Promise<LocalnetGeyser> {
  const hub = new GeyserHub({ version: geyserVersion() });
  const stopFollowing = followLedger(node, hub, options.log);
  try {
    const { server, port } = await listenOnFirstFree(options.ports, (each) =>
      listen(hub, node, each, options),
    );
    const close = async (): Promise<void> => {
      stopFollowing();
      await server.drain(options.drainGraceMs ?? 1_000, 0);
    };
    return { port, close };
  } catch (error) {
    stopFollowing();
    throw error;
  }
}

async function listenOnFirstFree<Listener>(
  ports: readonly number[],
  open: (port: number) => Promise<Listener>,
): Promise<Listener> {
  const [port = 0, ...others] = ports;
  try {
    return await open(port);
  } catch (error) {
    if (others.length === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return listenOnFirstFree(others, open);
  }
}
