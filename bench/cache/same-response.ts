/**
 * Answers whatever it reads with the same bytes, and knows nothing of them: what node:net alone costs for an answer from
 * memory. Prints its port.
 */
import { createServer, Socket } from 'node:net';
import { account, inContext, slotNow } from '../rpc/node-responses.ts';

/** What a socket has behind it. */
type Inside = { _handle: object | null };

const body = `{"jsonrpc":"2.0","result":${inContext(slotNow(), account)},"id":1}`;
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
);
const shared = Buffer.allocUnsafeSlow(64 * 1024);

const server = createServer({ pauseOnConnect: true }, (accepted) => {
  const inside = accepted as unknown as Inside;
  const callback = (): boolean => {
    client.write(response);
    return true;
  };
  const options: object = { handle: inside._handle, onread: { buffer: shared, callback } };
  inside._handle = null;
  const client = new Socket(options);
  client.setNoDelay(true);
  client.on('error', () => client.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
