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

/** The Geyser of an embedded ledger. */
export type LocalnetGeyser = Readonly<{ port: number; close(): Promise<void> }>;

export type LocalnetGeyserOptions = Readonly<{
  host: string;
  /** Tried in turn until one is free; 0 is any. */
  ports: readonly number[];
  /** How long clients have to take what waits for them when it closes. Default 1 s. */
  drainGraceMs?: number;
  /** Rooted slots of the ledger's records that streams may begin at after a restart. Default what the hub holds. */
  rootedSlots?: number;
  log: Logger;
}>;

/** The slot that an event is of; null for a vote, which is of none. */
function slotOf(event: LedgerEvent) {
  if (event.kind === 'block') return event.block.slot;
  return event.kind === 'vote' ? null : event.slot;
}

/** Lets the ledger's events fill a hub. A fault costs those who listen what it hit, and does not stop the ledger. */
function followLedger(
  node: OpenLocalNode,
  hub: GeyserHub,
  { log, rootedSlots = geyserHubOptions.replaySlots }: LocalnetGeyserOptions,
): () => void {
  const updates = new LedgerUpdates(hub);
  return node.follow((event) => {
    try {
      updates.onEvent(event);
    } catch (error) {
      log.error({ err: error, event: event.kind }, 'Geyser event of the embedded ledger failed');
      const slot = slotOf(event);
      if (slot !== null) hub.onLost(slot, slot, updateKinds);
    }
  }, rootedSlots);
}

/** @throws what listening throws. */
async function listen(hub: GeyserHub, node: OpenLocalNode, port: number, options: LocalnetGeyserOptions) {
  const { host, log } = options;
  const health = (service: string): boolean => node.failure === null && !service.startsWith('shredstream');
  const server = new GrpcServer({ handler: new UnauthenticatedHandler(hub), health, log }, { host, port });
  return { server, port: (await server.listen()).port };
}

/**
 * Serves the Geyser of an embedded ledger as the Yellowstone plugin of a node does, without a key. It begins with
 * the newest rooted slots of the ledger's records, so that streams can begin in the past after a restart too.
 * @throws the system's error when no port can be had.
 */
export async function openLocalnetGeyser(
  node: OpenLocalNode,
  options: LocalnetGeyserOptions,
): Promise<LocalnetGeyser> {
  const hub = new GeyserHub({ version: geyserVersion() });
  const stopFollowing = followLedger(node, hub, options);
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

/** Tries port after port; what keeps the last from being had is thrown. */
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
