import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Call, PendingCall, ResponseHandler, RpcDispatcher } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { DeshredHub } from '../../streams/deshred/deshred-hub.ts';
import { ChainReader } from '../../upstream/feeds/chain-reader.ts';
import { geyserRequest, ShredStage } from '../../upstream/shreds/shred-stage.ts';
import type { DeshredLimits, ShredLimits, ShredsConfig } from '../../upstream/shreds/shreds-config.ts';
import { listenAt, shredsListenAddress } from '../servers/listen.ts';
import { geyserVersion } from './geyser-version.ts';

export type Shreds = Readonly<{
  hub: DeshredHub;
  /** Receives updates from the standard stage. */
  stage: Pick<ShredStage, 'accepted' | 'onUpdate'>;
  /** Filters for the updates that the shred stage needs from the standard stage; null: none. */
  standardFilters: SubscribeRequest | null;
  udp: AddressInfo | null;
  /** Sets the dispatcher for reading the leader schedule and lookup tables. Calls wait until it is set. */
  setDispatcher(dispatcher: RpcDispatcher): void;
  stop(): Promise<void>;
}>;

/** Whether shreds are received over UDP. @param isDevelopment - if true, the embedded ledger sends shreds. */
export const hasUdp = ({ shreds }: Configuration, isDevelopment: boolean): boolean =>
  shreds.udp === 'auto' ? isDevelopment : shreds.udp;

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

export const hasShreds = (configuration: Configuration, isDevelopment: boolean): boolean => {
  const { udp, entries, deshred } = sourcesOf(configuration, isDevelopment);
  return configuration.grpc.enabled && (udp !== null || entries.length > 0 || deshred.length > 0);
};

const NO_SHREDS =
  'there is no shred stage, so svc_fs_live_ keys are rejected: name a source in [shreds] (udp, entries or deshred)';

/** Holds calls until the dispatcher is set. The stage opens earlier: the embedded ledger needs the stage's address. */
class DeferredDispatcher implements RpcDispatcher {
  readonly #dispatcher = Promise.withResolvers<RpcDispatcher>();

  set(dispatcher: RpcDispatcher): void {
    this.#dispatcher.resolve(dispatcher);
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    let pending: PendingCall | null = null;
    let isCanceled = false;
    void this.#dispatcher.promise.then((dispatcher) => {
      if (!isCanceled) pending = dispatcher.dispatch(call, handler);
    });
    const cancel = (): void => {
      if (pending !== null) pending.cancel();
      else if (!isCanceled) handler.onError(new Failure('CLIENT_GONE', { facts: { network: call.network } }));
      isCanceled = true;
    };
    return { cancel };
  }
}

/** @returns null if there is no source or gRPC is disabled. @throws ListenError when the UDP port is unavailable */
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
  const dispatcher = new DeferredDispatcher();
  const network = configuration.networks.default;
  const reader = new ChainReader({ network, pool: dispatcher, limits: configuration.feeds, log });
  const hub = new DeshredHub({ version: geyserVersion() });
  const config = sourcesOf(configuration, isDevelopment);
  const stage = new ShredStage({ config, limits, deshredLimits, reader, log }, hub);
  await listenAt(shredsListenAddress(configuration), () => stage.start());
  const udp = stage.udpAddress;
  if (udp !== null) log.info({ address: udp.address, port: udp.port }, 'UDP shred receiver started');
  const setDispatcher = (pool: RpcDispatcher): void => dispatcher.set(pool);
  return { hub, stage, standardFilters: geyserRequest, udp, setDispatcher, stop: () => stage.close() };
}
