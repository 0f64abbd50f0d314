import type { Configuration } from './configuration.ts';
import type { ListenPlace } from './listen-once.ts';

/** Where the service listens, by the fields that say so. */

/** JSON-RPC and WebSockets. */
export const httpPlace = ({ server: { host, port } }: Configuration): ListenPlace => ({
  ...{ host, port, kind: 'port', hostField: 'server.host', portOption: '--port' },
});

/** gRPC streams. */
export const grpcPlace = ({ server, grpc: { host, port } }: Configuration): ListenPlace => ({
  ...{ host, port, kind: 'port', portOption: '--grpc-port' },
  hostField: host === server.host ? 'server.host' : 'grpc.host',
});

/** Shreds over UDP. */
export const shredsPlace = ({ shreds: { udpHost: host, udpPort: port } }: Configuration): ListenPlace => ({
  ...{ host, port, kind: 'UDP port', hostField: 'shreds.udp_host', portOption: 'shreds.udp_port' },
});
