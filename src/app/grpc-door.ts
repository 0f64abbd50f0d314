import { KeyWatch } from '../access/key-watch.ts';
import { MessagePace } from '../access/message-pace.ts';
import type { Logger } from '../base/log.ts';
import { GeyserGate } from '../gateway/geyser/geyser-gate.ts';
import type { TrustedProxies } from '../servers/client-address.ts';
import type { ServedService } from '../servers/grpc/health.ts';
import type { GrpcServerOptions } from '../servers/grpc/options.ts';
import { GrpcServer } from '../servers/grpc/server.ts';
import type { TlsIdentity } from '../servers/tls-identity.ts';
import type { Entrance } from './admission.ts';
import type { Configuration } from './configuration.ts';
import type { Limits } from './limits.ts';
import type { Streams } from './streams.ts';
import { grpcTlsFiles, readTls } from './tls-files.ts';
import type { SecureDoor } from './tls-reload.ts';

/** The door of gRPC streams. */
export type GrpcDoor = Readonly<{
  server: GrpcServer;
  /** null: clients connect without TLS. */
  secure: SecureDoor | null;
  /** Ends the watch over keys; once the listener is drained. */
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
  tls: TlsIdentity | null,
  proxies: TrustedProxies,
): GrpcServerOptions {
  const { enabled: _, tlsCert: __, tlsKey: ___, messagesPerSecond: ____, ...limits } = grpc;
  const { connectionsExempt, drainNoticeMs, drainGraceMs } = server;
  return { ...limits, tls, proxies, connectionsExempt, drainNoticeMs, drainGraceMs };
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
  const files = grpcTlsFiles(configuration);
  const tls = files === null ? null : readTls(files);
  const server = new GrpcServer({ door, health, log }, optionsOf(configuration, tls, proxies));
  const reload = (identity: TlsIdentity): void => server.reloadTls(identity);
  const secure = files === null ? null : { name: 'the gRPC door', files, reload };
  return { server, secure, close: () => watch.close() };
}
