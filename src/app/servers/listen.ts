import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import { OperatorError } from '../../base/operator-error.ts';
import type { Configuration } from '../../config/configuration.ts';

/** An address to listen on, and the options that set it. */
export type ListenAddress = Readonly<{
  host: string;
  port: number;
  /** Option that sets the host, such as `server.host`. */
  hostField: string;
  /** Option that sets the port, such as `--port`. */
  portOption: string;
  /** Term for the port in error messages: `port` or `UDP port`. */
  kind: string;
}>;

export class ListenError extends OperatorError {
  /** Whether another program uses the port. */
  readonly isTaken: boolean;

  constructor(message: string, isTaken: boolean) {
    super(message);
    this.name = 'ListenError';
    this.isTaken = isTaken;
  }
}

function remedyOf(code: string | undefined, address: ListenAddress): string | null {
  const { host, port, hostField, portOption, kind } = address;
  switch (code) {
    case 'EADDRINUSE':
      return `${kind} ${port} of ${host} is in use: stop the other program or choose another port with ${portOption}`;
    case 'EACCES':
      return (
        `no permission to listen on ${kind} ${port} of ${host}: choose a port above 1023 with ${portOption}, ` +
        'or give the process the capability CAP_NET_BIND_SERVICE'
      );
    case 'EADDRNOTAVAIL':
      return `${hostField}: this machine does not have the address ${host}: correct it or use "0.0.0.0"`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostField}: unknown host ${host}: use an address such as "127.0.0.1"`;
    default:
      return null;
  }
}

/** @throws ListenError with a remedy, or the system error if no remedy is known */
export async function listenAt<T>(address: ListenAddress, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = remedyOf(code, address);
    if (remedy === null) throw error;
    throw new ListenError(remedy, code === 'EADDRINUSE');
  }
}

function probeTcpPort(host: string, port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

function probeUdpPort(host: string, port: number): Promise<void> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(port, host, () => socket.close(() => resolve()));
  });
}

/** @throws ListenError */
export const checkPortFree = (address: ListenAddress): Promise<void> =>
  listenAt(address, () => probeTcpPort(address.host, address.port));

/** @throws ListenError */
export const checkUdpPortFree = (address: ListenAddress): Promise<void> =>
  listenAt(address, () => probeUdpPort(address.host, address.port));

/** Host for reaching a listener from this machine: a wildcard address becomes loopback. */
export function callableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

export const httpListenAddress = ({ server: { host, port } }: Configuration): ListenAddress => ({
  ...{ host, port, kind: 'port', hostField: 'server.host', portOption: '--port' },
});

export const grpcListenAddress = ({ server, grpc: { host, port } }: Configuration): ListenAddress => ({
  ...{ host, port, kind: 'port', portOption: '--grpc-port' },
  hostField: host === server.host ? 'server.host' : 'grpc.host',
});

export const shredsListenAddress = ({
  shreds: { udpHost: host, udpPort: port },
}: Configuration): ListenAddress => ({
  ...{ host, port, kind: 'UDP port', hostField: 'shreds.udp_host', portOption: 'shreds.udp_port' },
});
