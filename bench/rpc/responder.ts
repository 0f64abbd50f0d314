import { createServer, type Socket } from 'node:net';
import { account, inContext, LONG_ADDRESS, longAccount, resultOf, slotNow } from './node-responses.ts';
import { printPort } from './shared-read.ts';

/**
 * A minimal node: reads HTTP/1.1 requests with Content-Length from a socket and answers each with its id. Slots follow
 * the clock. Prints its port.
 */
const CONTENT_LENGTH = /content-length: *(\d+)/i;
const ID = /"id":(\d+)/;
const METHOD = /"method":"(\w+)"/;
const ACCOUNTS = '"method":"getAccountInfo"';

const BEGIN = '{"jsonrpc":"2.0","result":';
const head = (bytes: number): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
const endOf = (body: string): string => `,"id":${ID.exec(body)?.[1] ?? 'null'}}`;

/** Responses of the current slot. */
let slot = 0;
let short = '';
let long = Buffer.alloc(0);

function renew(now: number): void {
  slot = now;
  short = BEGIN + inContext(slot, account);
  long = Buffer.from(BEGIN + inContext(slot, longAccount));
}

/** Collects the responses of a turn; short ones are written together. */
class ResponseWriter {
  readonly #socket: Socket;
  #text = '';

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  add(body: string): void {
    const now = slotNow();
    if (now !== slot) renew(now);
    const end = endOf(body);
    if (!body.includes(ACCOUNTS)) this.#addText(BEGIN + resultOf(METHOD.exec(body)?.[1] ?? '', slot) + end);
    else if (!body.includes(LONG_ADDRESS)) this.#addText(short + end);
    else this.#addLong(end);
  }

  flush(): void {
    if (this.#text !== '') this.#socket.write(this.#text, 'latin1');
    this.#text = '';
  }

  #addText(json: string): void {
    this.#text += head(json.length) + json;
  }

  #addLong(end: string): void {
    this.#text += head(long.length + end.length);
    this.flush();
    this.#socket.write(long);
    this.#text = end;
  }
}

function serve(socket: Socket): void {
  const writer = new ResponseWriter(socket);
  let pending = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    pending += chunk;
    for (;;) {
      const headEnd = pending.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const length = Number(CONTENT_LENGTH.exec(pending.slice(0, headEnd))?.[1] ?? 0);
      if (pending.length < headEnd + 4 + length) break;
      writer.add(pending.slice(headEnd + 4, headEnd + 4 + length));
      pending = pending.slice(headEnd + 4 + length);
    }
    writer.flush();
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => printPort(server));
