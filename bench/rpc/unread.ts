/**
 * Passes bytes on unread, each connection of a client over one of its own to the node: what node:net alone costs for one call
 * at a time over one connection. Takes the port of the node, prints its own.
 */
import { createServer, Socket } from 'node:net';

/** What a socket has behind it. */
type Inside = { _handle: object | null };

const nodePort = Number(process.argv[2]);
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** What is read from here goes there. */
const onreadInto = (other: () => Socket) => ({
  buffer: shared,
  callback: (bytes: number): boolean => {
    other().write(Buffer.from(shared.subarray(0, bytes)));
    return true;
  },
});

function join(one: Socket, other: Socket): void {
  one.setNoDelay(true);
  one.on('error', () => one.destroy());
  one.on('close', () => other.destroy());
}

const server = createServer({ pauseOnConnect: true }, (accepted) => {
  const inside = accepted as unknown as Inside;
  const options: object = { handle: inside._handle, onread: onreadInto(() => node) };
  inside._handle = null;
  const client = new Socket(options);
  const node = new Socket({ onread: onreadInto(() => client) });
  node.connect(nodePort, '127.0.0.1');
  join(client, node);
  join(node, client);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
