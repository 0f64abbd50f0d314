import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export type RawRequest = Readonly<{
  socket: Socket;
  connection: number;
  head: string;
  body: string;
  id: number;
}>;

export type RawScript = (request: RawRequest) => void;

export type RawNode = Readonly<{
  url: string;
  requests: readonly RawRequest[];
  sockets: readonly Socket[];
  open(): number;
  become(script: RawScript): void;
  close(): Promise<void>;
}>;

const END = '\r\n\r\n';

function split(text: string): { requests: { head: string; body: string }[]; rest: string } {
  const requests: { head: string; body: string }[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf(END);
    const length = Number(/content-length: (\d+)$/m.exec(rest.slice(0, Math.max(0, end)))?.[1]);
    if (end < 0 || rest.length < end + END.length + length) return { requests, rest };
    const from = end + END.length;
    requests.push({ head: rest.slice(0, end), body: rest.slice(from, from + length) });
    rest = rest.slice(from + length);
  }
}

/** @param tls - key and certificate, for a TLS node. */
export async function startRaw(script: RawScript, tls?: TlsOptions): Promise<RawNode> {
  let current = script;
  const requests: RawRequest[] = [];
  const sockets: Socket[] = [];
  let open = 0;
  const serve = (socket: Socket): void => {
    const connection = sockets.push(socket) - 1;
    open++;
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => open--);
    socket.on('data', (bytes) => {
      const got = split(text + bytes.toString('latin1'));
      text = got.rest;
      for (const { head, body } of got.requests) {
        const request = { socket, connection, head, body, id: (JSON.parse(body) as { id: number }).id };
        requests.push(request);
        current(request);
      }
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  if (tls !== undefined) server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/`,
    requests,
    sockets,
    open: () => open,
    become: (next) => {
      current = next;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Response in Agave's format. */
export const envelope = (id: number, result = '7'): string =>
  `{"jsonrpc":"2.0","result":${result},"id":${id}}\n`;

export function http(body: string, fields: readonly string[] = [], status = '200 OK'): string {
  return [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...fields, '', body].join(
    '\r\n',
  );
}

export const responding: RawScript = ({ socket, id }) => socket.write(http(envelope(id)));

export const unresponsive: RawScript = () => {};
