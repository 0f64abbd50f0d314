import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { OperatorError } from '../base/operator-error.ts';
import { ClickHouse } from '../control/clickhouse/client.ts';
import { errorText } from './error-text.ts';

it('names the option of ClickHouse, not that of PostgreSQL, if ClickHouse does not respond', async () => {
  const server = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const problemOf = (one: ClickHouse) => one.ping().then(() => 'none', errorText);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/solway`;
  const clickHouse = new ClickHouse(url, 100);
  onTestFinished(() => clickHouse.close());
  expect(await problemOf(clickHouse)).toMatch(/^no response: .*store\.clickhouse_url/);
  await clickHouse.close();
  await new Promise((resolve) => server.close(resolve));
  const closed = new ClickHouse(url, 100);
  onTestFinished(() => closed.close());
  expect(await problemOf(closed)).toMatch(/^connection refused: .*ClickHouse/);
});

it('has the cause of an error, without passwords', () => {
  const cause = new Error('Cannot parse input from http://solway:s3cret@localhost/');
  const text = errorText(new OperatorError('2 rows were rejected', { cause }));
  expect(text).toMatch(/^2 rows were rejected: Cannot parse input/);
  expect(text).not.toMatch('s3cret');
});
