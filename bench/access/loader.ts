import { once } from 'node:events';
import { connect } from 'node:net';
import type { LoaderMessage, LoaderOrder } from './messages.ts';

/** Process that sends requests in a closed loop over a few connections, with one key after another. */

const CONNECTIONS = 32;
const BODY =
  '{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":["11111111111111111111111111111111"]}';

const requestOf = (key: string): string =>
  `POST /v1/rpc HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\n` +
  `content-length: ${BODY.length}\r\n\r\n${BODY}`;

async function runLoad({ port, keys, seconds }: LoaderOrder): Promise<number> {
  const texts = keys.map(requestOf);
  const until = performance.now() + seconds * 1_000;
  let requests = 0;
  const connection = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1');
    await once(socket, 'connect');
    socket.on('data', (response: string) => {
      // A response is written at once, so it arrives in one piece.
      if (!response.startsWith('HTTP/1.1 200')) throw new Error(response);
      if (performance.now() > until) socket.end();
      else socket.write(texts[requests++ % texts.length] as string);
    });
    socket.write(texts[requests++ % texts.length] as string);
    await once(socket, 'close');
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return requests;
}

process.on('message', (order: LoaderOrder) => {
  void runLoad(order).then((requests) => process.send?.({ requests } satisfies LoaderMessage));
});
process.on('SIGTERM', () => process.exit());
