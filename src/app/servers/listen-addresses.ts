import type { Configuration } from '../../config/configuration.ts';
import type { ListenAddress } from './listen.ts';

/** Address to reach a listener on this machine: a wildcard host becomes loopback. */
export function callableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** JSON-RPC and WebSockets. */
export const httpListenAddress = ({ server: { host, port } }: Configuration): ListenAddress => ({
  ...{ host, port, kind: 'port', hostField: 'server.host', portOption: '--port' },
});

/** gRPC streams. */
export const grpcListenAddress = ({ server, grpc: { host, port } }: Configuration): ListenAddress => ({
  ...{ host, port, kind: 'port', portOption: '--grpc-port' },
  hostField: host === server.host ? 'server.host' : 'grpc.host',
});

/** Shreds over UDP. */
export const shredsListenAddress = ({
  shreds: { udpHost: host, udpPort: port },
}: Configuration): ListenAddress => ({
  ...{ host, port, kind: 'UDP port', hostField: 'shreds.udp_host', portOption: 'shreds.udp_port' },
});
