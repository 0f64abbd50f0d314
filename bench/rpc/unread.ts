/**
 * Forwards bytes without parsing, with one connection to the node per client connection: the cost of node:net alone.
 * Takes the port of the node, prints its own.
 */
import { Socket } from 'node:net';
import { serveSharedReads, sharedBuffer } from './shared-read.ts';

const nodePort = Number(process.argv[2]);

/** Forwards reads to the other socket. */
const onreadInto = (other: () => Socket) => ({
  buffer: sharedBuffer,
  callback: (bytes: number): boolean => {
    other().write(Buffer.from(sharedBuffer.subarray(0, bytes)));
    return true;
  },
});

function join(one: Socket, other: Socket): void {
  one.setNoDelay(true);
  one.on('error', () => one.destroy());
  one.on('close', () => other.destroy());
}

serveSharedReads((accept) => {
  const client = accept(onreadInto(() => node));
  const node = new Socket({ onread: onreadInto(() => client) });
  node.connect(nodePort, '127.0.0.1');
  join(client, node);
  join(node, client);
});
