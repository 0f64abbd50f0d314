import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Logger } from '../../base/log.ts';

/** The address that the node names as its gossip address. */
export type GossipSocket = Readonly<{ port: number; close(): Promise<void> }>;

/**
 * Holds the UDP port that getClusterNodes and `validator.log` name as the node's gossip address, as
 * solana-test-validator has one. The ledger is alone: what comes there is dropped unread.
 * @param port - 0 takes a free one.
 * @throws the system's error when the port cannot be had.
 */
export async function holdGossipPort(host: string, port: number, log: Logger): Promise<GossipSocket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const bound = once(socket, 'listening');
  socket.bind({ port, address: host, exclusive: true });
  await bound;
  socket.on('error', (err) => log.warn({ err }, 'the gossip port went wrong'));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
