import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { KeyWatch } from '../../gateway/auth/key-watch.ts';
import { GeyserGateway } from '../../gateway/geyser/geyser-gateway.ts';
import type { GeyserGatewayParts } from '../../gateway/geyser/metered-call.ts';
import { MessageRateLimiter } from '../../gateway/limits/message-rate-limiter.ts';
import type { TrustedProxies } from '../../servers/client-address.ts';
import { httpStreams } from '../../servers/grpc/http-streams.ts';
import type { GrpcServerOptions } from '../../servers/grpc/options.ts';
import { GrpcServer } from '../../servers/grpc/server.ts';
import type { ServedService } from '../../servers/grpc/standard-services.ts';
import type { TlsIdentity } from '../../servers/tls.ts';
import type { Limits } from '../limits.ts';
import { grpcTlsFiles, readTls } from './tls-files.ts';
import type { TlsListener } from './tls-reload.ts';

export type GrpcStreams = Pick<GeyserGatewayParts, 'standard' | 'shred'>;

type GrpcListenerOptions = Readonly<{
  admissionServices: Pick<GeyserGatewayParts, 'admission' | 'meter' | 'connections'>;
  limits: Limits;
  proxies: TrustedProxies;
  streams: GrpcStreams;
  isReady: () => boolean;
  log: Logger;
}>;

/** The return type makes a missing option a compile error. */
function optionsOf(
  { grpc, server }: Configuration,
  tls: TlsIdentity | null,
  proxies: TrustedProxies,
): GrpcServerOptions {
  const { enabled: _, tlsCert: __, tlsKey: ___, messagesPerSecond: ____, ...limits } = grpc;
  const { connectionsExempt, drainNoticeMs, drainGraceMs } = server;
  return { ...limits, tls, proxies, connectionsExempt, drainNoticeMs, drainGraceMs };
}

/** @throws OperatorError */
export function buildGrpcListener(configuration: Configuration, options: GrpcListenerOptions) {
  const { admissionServices, limits, proxies, streams, isReady, log } = options;
  const { streams: streamLimit, quota } = limits;
  const { messagesPerSecond } = configuration.grpc;
  const watch = new KeyWatch(admissionServices.admission.keys, { rejection: quota.exceeded.bind(quota) });
  const messageLimiter = new MessageRateLimiter({ messagesPerSecond });
  const { standard, shred } = streams;
  const network = configuration.networks.default;
  const parts = { streamLimit, messageLimiter, watch, standard, shred, network, log };
  const handler = new GeyserGateway({ ...admissionServices, ...parts });
  const health = (service: ServedService): boolean =>
    service === 'shredstream.ShredstreamProxy' ? shred !== null : isReady();
  const files = grpcTlsFiles(configuration);
  const tls = files === null ? null : readTls(files);
  const server = new GrpcServer({ handler, health, log }, optionsOf(configuration, tls, proxies));
  const reload = (identity: TlsIdentity): void => server.reloadTls(identity);
  const tlsListener: TlsListener | null = files === null ? null : { name: 'gRPC listener', files, reload };
  /** Must be called after the listener is drained. */
  const close = (): void => watch.close();
  return { server, tlsListener, httpStreams: httpStreams(handler, proxies, log), close };
}

export type GrpcListener = ReturnType<typeof buildGrpcListener>;
