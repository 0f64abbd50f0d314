import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Logger } from '../../../../src/base/log.ts';

export type GossipSocket = Readonly<{ port: number; close(): Promise<void> }>;

/**
 * Binds the UDP port that getClusterNodes and `validator.log` report as gossip address, as in
 * solana-test-validator. Received datagrams are dropped.
 * @param port - 0 picks a free port.
 * @throws the system's error if the port is not available.
 */
export async function bindGossipPort(host: string, port: number, log: Logger): Promise<GossipSocket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const bound = once(socket, 'listening');
  socket.bind({ port, address: host, exclusive: true });
  await bound;
  socket.on('error', (err) => log.warn({ err }, 'gossip socket failed'));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
