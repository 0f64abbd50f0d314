import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { send, startFakeClickHouse } from '../../../test/control/fake-clickhouse.ts';
import { ClickHouse, isRejectedRow, isUnreachable } from './client.ts';

const requests = {
  query: (server: ClickHouse) => server.query('select 1'),
  statement: (server: ClickHouse) => server.run('create table t'),
  insert: (server: ClickHouse) => server.insert('t', [{ one: 1 }]),
};

/** Requests what never ends. @returns the error, after the server has seen the connection close. */
async function errorOf(
  request: (server: ClickHouse) => Promise<unknown>,
  start: (response: ServerResponse) => void,
  timeoutMs?: number,
): Promise<Error> {
  let closed: Promise<unknown> = Promise.resolve();
  const fake = await startFakeClickHouse((_, response) => {
    closed = once(response, 'close');
    start(response);
  });
  const server = new ClickHouse(fake.url, timeoutMs);
  const error = await request(server).then(
    () => new Error('it succeeded'),
    (reason: Error) => reason,
  );
  await closed;
  await server.close();
  fake.close();
  return error;
}

it.each(Object.entries(requests))(
  'ends a %s whose response takes too long, although bytes arrive',
  async (_, request) => {
    for (const status of [200, 500]) {
      let bytes = 0;
      const trickle = (response: ServerResponse) => {
        response.writeHead(status);
        const timer = setInterval(() => response.write(' ', () => bytes++), 5);
        response.on('close', () => clearInterval(timer));
      };
      // A slow machine needs longer for the first bytes.
      for (let timeoutMs = 50; bytes < 2; timeoutMs *= 2)
        expect(isUnreachable(await errorOf(request, trickle, timeoutMs))).toBe(true);
    }
  },
);

it('ends a request whose response is too long', async () => {
  const flood = (response: ServerResponse): void => {
    const write = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', write);
    write();
  };
  for (const request of [requests.statement, requests.insert])
    expect((await errorOf(request, flood)).message).toMatch('too long');
});

it('fails with a message for the user if the result of a query is too large', async () => {
  const fake = await startFakeClickHouse((_, response) => send(response, [{ text: 'x'.repeat(1_000) }]));
  const server = new ClickHouse(fake.url, 10_000, 100);
  await expect(server.query('select 1')).rejects.toMatchObject({
    ...{ status: 422, code: 'RESULT_TOO_LARGE' },
    message: 'Query result too large. Choose a shorter time range.',
  });
  await server.close();
  fake.close();
});

it.each(Object.entries(requests))('fails for a %s if a proxy responds instead', async (_, request) => {
  const fake = await startFakeClickHouse((_, response) => void response.end('{"data": []}'));
  const server = new ClickHouse(fake.url);
  await expect(request(server)).rejects.toThrow('the response is not that of ClickHouse');
  await server.close();
  fake.close();
});

it('a row is rejected because of its content, but not because the table lacks a column', () => {
  const invalid = new Error(
    'Code: 27. DB::Exception: Cannot parse input: Unknown field. (CANNOT_PARSE_INPUT)',
  );
  const unknown = 'Unknown field found while parsing JSONEachRow format: origin';
  const missing = [
    Object.assign(new Error(unknown), { code: '117' }),
    new Error(`Code: 117, e.displayText() = DB::Exception: ${unknown}, e.what() = DB::Exception`),
  ];
  expect([invalid, ...missing].map(isRejectedRow)).toEqual([true, false, false]);
});
