import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Logger } from '../../../../src/base/log.ts';

export type SilentPort = Readonly<{ port: number; close(): Promise<void> }>;

/**
 * Binds a UDP port that getClusterNodes reports, as in solana-test-validator. Received datagrams are dropped.
 * @param port - 0 picks a free port.
 * @throws the system's error if the port is not available.
 */
export async function bindSilentPort(host: string, port: number, log: Logger): Promise<SilentPort> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const bound = once(socket, 'listening');
  socket.bind({ port, address: host, exclusive: true });
  await bound;
  socket.on('error', (err) => log.warn({ err }, 'UDP port failed'));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
