import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Answer = (
  statement: string,
  response: ServerResponse,
  settings: URLSearchParams,
  /** Of an insert. */
  rows: string,
) => void;

export const isInsert = (statement: string): boolean => /^insert/i.test(statement);

export const send = (response: ServerResponse, data: readonly object[] = []): void =>
  void response
    .setHeader('x-clickhouse-server-display-name', 'test')
    .end(JSON.stringify({ meta: [], data, rows: data.length, statistics: { rows_read: 0 } }));

export const fail = (response: ServerResponse, code: number): void =>
  void response.writeHead(500).end(`Code: ${code}. DB::Exception: it failed. (NAME_OF_CODE)`);

/** Starts a server that answers each statement as given. */
export async function startFakeClickHouse(answer: Answer) {
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const body = await text(request);
    answer(searchParams.get('query') ?? body, response, searchParams, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/solway`,
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
