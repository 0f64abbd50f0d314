import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { RpcClient } from '../../protocol/call.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { DeshredHub } from '../../streams/deshred/deshred-hub.ts';
import { ChainReader } from '../../upstream/feeds/chain-reader.ts';
import type { DeshredLimits } from '../../upstream/shreds/deshred-limits.ts';
import type { ShredLimits } from '../../upstream/shreds/shred-limits.ts';
import { ShredStage, standardRequest } from '../../upstream/shreds/shred-stage.ts';
import type { ShredsConfig } from '../../upstream/shreds/shreds-config.ts';
import { listenAt } from '../servers/listen.ts';
import { shredsListenAddress } from '../servers/listen-addresses.ts';
import { geyserVersion } from './geyser-version.ts';

/** The shred stage: its sources and the hub of its streams. */
export type Shreds = Readonly<{
  hub: DeshredHub;
  /** Follows the standard stage. */
  stage: Pick<ShredStage, 'accepted' | 'onUpdate'>;
  /** Filters of the standard stage that it needs; null for none. */
  standardFilters: SubscribeRequest | null;
  /** Where shreds come in over UDP; null where they do not. */
  udp: AddressInfo | null;
  /** Sets the client for the leader schedule and lookup tables; requests wait until then. */
  setRpcClient(source: RpcClient): void;
  stop(): Promise<void>;
}>;

/** Whether shreds come in over UDP. @param isDevelopment - the embedded ledger sends them. */
export const hasUdp = ({ shreds }: Configuration, isDevelopment: boolean): boolean =>
  shreds.udp === 'auto' ? isDevelopment : shreds.udp;

/** The sources that the configuration names; over UDP also the embedded ledger, which names none. */
function sourcesOf(configuration: Configuration, isDevelopment: boolean): ShredsConfig {
  const { shreds } = configuration;
  return {
    udp: hasUdp(configuration, isDevelopment)
      ? { host: shreds.udpHost, port: shreds.udpPort, senders: shreds.udpSenders }
      : null,
    entries: shreds.entries,
    deshred: shreds.deshred,
    shredVersion: shreds.shredVersion,
  };
}

/** Whether the shred stage has a source. */
export const hasShreds = (configuration: Configuration, isDevelopment: boolean): boolean => {
  const { udp, entries, deshred } = sourcesOf(configuration, isDevelopment);
  return configuration.grpc.enabled && (udp !== null || entries.length > 0 || deshred.length > 0);
};

export const NO_SHREDS =
  'there is no shred stage, so svc_fs_live_ keys are refused: name a source in [shreds] (udp, entries or deshred)';

/** Nodes exist only after the embedded ledger, which needs the address for its shreds. */
function deferredRpcClient(): Readonly<{ source: RpcClient; setRpcClient: (source: RpcClient) => void }> {
  const { promise, resolve } = Promise.withResolvers<RpcClient>();
  return {
    source: { request: async (call, signal) => (await promise).request(call, signal) },
    setRpcClient: resolve,
  };
}

/**
 * Opens the shred stage.
 * @returns null without a source.
 * @throws ListenError when the UDP port is unavailable.
 */
export async function openShreds(
  configuration: Configuration,
  isDevelopment: boolean,
  log: Logger,
): Promise<Shreds | null> {
  if (!hasShreds(configuration, isDevelopment)) {
    if (configuration.grpc.enabled) log.info(NO_SHREDS);
    return null;
  }
  const limits: ShredLimits = configuration.shreds;
  const deshredLimits: DeshredLimits = configuration.shreds;
  const { source, setRpcClient } = deferredRpcClient();
  const network = configuration.networks.default;
  const reader = new ChainReader({ network, pool: source, limits: configuration.feeds, log });
  const hub = new DeshredHub({ version: geyserVersion() });
  const config = sourcesOf(configuration, isDevelopment);
  const stage = new ShredStage({ config, limits, deshredLimits, reader, log }, hub);
  await listenAt(shredsListenAddress(configuration), () => stage.start());
  const udp = stage.udpAddress;
  if (udp !== null) log.info({ address: udp.address, port: udp.port }, 'UDP shred receiver started');
  return { hub, stage, standardFilters: standardRequest, udp, setRpcClient, stop: () => stage.close() };
}
