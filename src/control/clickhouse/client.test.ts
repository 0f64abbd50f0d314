import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { startFakeClickHouse } from '../../../test/control/fake-clickhouse.ts';
import { ClickHouse, isUnreachable } from './client.ts';

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
    const trickle = (status: number) => (response: ServerResponse) => {
      response.writeHead(status);
      const timer = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(timer));
    };
    for (const status of [200, 500])
      expect(isUnreachable(await errorOf(request, trickle(status), 50))).toBe(true);
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
