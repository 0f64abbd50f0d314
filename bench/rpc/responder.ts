import { createServer, type Socket } from 'node:net';

/**
 * The cheapest upstream that is still honest: a raw socket that reads HTTP/1.1 requests with Content-Length and
 * answers each with the same account under the id it was asked with. Prints its port when it listens.
 */
const RESULT = JSON.stringify({
  context: { apiVersion: '4.1.0', slot: 301_234_567 },
  value: {
    data: [Buffer.alloc(165, 7).toString('base64'), 'base64'],
    executable: false,
    lamports: 2_039_280,
    owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    rentEpoch: 0,
    space: 165,
  },
});
const HEAD = `{"jsonrpc":"2.0","result":${RESULT},"id":`;
const CONTENT_LENGTH = /content-length: *(\d+)/i;
const ID = /"id":(\d+)/;

function answer(body: string): string {
  const json = `${HEAD}${ID.exec(body)?.[1] ?? 'null'}}`;
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
}

function serve(socket: Socket): void {
  let pending = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    pending += chunk;
    let out = '';
    for (;;) {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) break;
      const length = Number(CONTENT_LENGTH.exec(pending.slice(0, end))?.[1] ?? 0);
      if (pending.length < end + 4 + length) break;
      out += answer(pending.slice(end + 4, end + 4 + length));
      pending = pending.slice(end + 4 + length);
    }
    if (out !== '') socket.write(out, 'latin1');
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
