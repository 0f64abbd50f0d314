/**
 * Sends the same bytes for every read: the cost of node:net alone for a response from memory. Prints its port.
 */
import { account, inContext, slotNow } from '../rpc/node-responses.ts';
import { serveSharedReads, sharedBuffer } from '../rpc/shared-read.ts';

const body = `{"jsonrpc":"2.0","result":${inContext(slotNow(), account)},"id":1}`;
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
);

serveSharedReads((accept) => {
  const client = accept({ buffer: sharedBuffer, callback: () => client.write(response) || true });
  client.setNoDelay(true);
  client.on('error', () => client.destroy());
});
