import { KeyWatch } from '../access/key-watch.ts';
import { MessagePace } from '../access/message-pace.ts';
import type { Logger } from '../base/log.ts';
import { GeyserGate } from '../gateway/geyser/geyser-gate.ts';
import type { TrustedProxies } from '../servers/client-address.ts';
import type { ServedService } from '../servers/grpc/health.ts';
import type { GrpcServerOptions, GrpcTls } from '../servers/grpc/options.ts';
import { GrpcServer } from '../servers/grpc/server.ts';
import type { Entrance } from './admission.ts';
import type { Configuration } from './configuration.ts';
import type { Limits } from './limits.ts';
import { problemText } from './problem-text.ts';
import type { Streams } from './streams.ts';
import { readTls } from './tls-files.ts';

/** The door of gRPC streams. */
export type GrpcDoor = Readonly<{
  server: GrpcServer;
  /** Whether clients connect with TLS. */
  isSecure: boolean;
  /** Ends the watch over keys and signals; once the listener is drained. */
  close(): void;
}>;

/** What the door stands on besides the configuration. */
export type GrpcDoorParts = Readonly<{
  entrance: Entrance;
  limits: Limits;
  proxies: TrustedProxies;
  streams: Streams;
  /** Whether a node can answer. */
  isReady: () => boolean;
  log: Logger;
}>;

/** Whole, so that an option which the configuration lacks does not compile. */
function optionsOf(
  { grpc, server }: Configuration,
  tls: GrpcTls | null,
  proxies: TrustedProxies,
): GrpcServerOptions {
  const { enabled: _, tlsCert: __, tlsKey: ___, messagesPerSecond: ____, ...limits } = grpc;
  return { ...limits, tls, proxies, drainNoticeMs: server.drainNoticeMs, drainGraceMs: server.drainGraceMs };
}

/** Certificates are renewed while the service runs: SIGHUP reads them again, and keeps the old ones if it cannot. */
function reloadOnHangup(configuration: Configuration, server: GrpcServer, log: Logger): () => void {
  const reload = (): void => {
    try {
      const tls = readTls(configuration);
      if (tls !== null) server.reloadTls(tls);
      log.info('the certificate of the gRPC door was read again');
    } catch (error) {
      log.error({ problem: problemText(error) }, 'the certificate of the gRPC door stays as it was');
    }
  };
  process.on('SIGHUP', reload);
  return () => void process.off('SIGHUP', reload);
}

/**
 * Builds the door of gRPC streams; nothing listens yet.
 * @throws TlsFileError
 */
export function buildGrpcDoor(configuration: Configuration, parts: GrpcDoorParts): GrpcDoor {
  const { entrance, limits, proxies, streams, isReady, log } = parts;
  const { streams: places, quota } = limits;
  const watch = new KeyWatch(entrance.admission.keys, { refusal: quota.exceeded.bind(quota) });
  const pace = new MessagePace({ messagesPerSecond: configuration.grpc.messagesPerSecond });
  const { standard, shred } = streams;
  const network = configuration.networks.default;
  const door = new GeyserGate({ ...entrance, places, pace, watch, standard, shred, network, log });
  const health = (service: ServedService): boolean =>
    service === 'shredstream.ShredstreamProxy' ? shred !== null : isReady();
  const tls = readTls(configuration);
  const server = new GrpcServer({ door, health, log }, optionsOf(configuration, tls, proxies));
  const unlisten = tls === null ? () => {} : reloadOnHangup(configuration, server, log);
  const close = (): void => {
    unlisten();
    watch.close();
  };
  return { server, isSecure: tls !== null, close };
}
