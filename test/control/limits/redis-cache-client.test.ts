import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisCacheClient } from '../../../src/control/shared/redis-client.ts';
import { eventually } from '../../service/eventually.ts';
import { type RedisServer, redisProgram, startRedis } from './redis-server.ts';

describe.skipIf(redisProgram === null)('the response cache in Redis', () => {
  let server: RedisServer;
  const states: boolean[] = [];
  const open = (commandTimeoutMs = 1_000) =>
    new RedisCacheClient({
      ...{ url: server.url, ca: null, prefix: 'test:', connectTimeoutMs: 1_000, commandTimeoutMs },
      ...{ reconnectMaxMs: 50, pendingMaxBytes: 1_000 },
      onState: (error) => states.push(error === null),
    });
  const read = (answers: RedisCacheClient, key: string) =>
    new Promise<string | null>((resolve) => answers.get(key, (body) => resolve(body?.toString() ?? null)));

  const storeUntilRead = (from: RedisCacheClient, to: RedisCacheClient, key: string, text: string) =>
    eventually(async () => {
      from.set(key, Buffer.from(text), 60_000);
      return (await read(to, key)) === text;
    }, `${text} is stored`);

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.destroy());

  it('returns values stored by another gateway unchanged until they expire', async () => {
    const [one, other] = [open(), open()];
    const key = 'chain\ndevnet\ngetBlock\n[7,"\u00c3\u00a9"]';
    await storeUntilRead(one, other, key, '{"é":18446744073709551615}');
    one.set('short', Buffer.from('1'), 1);
    await eventually(async () => (await read(other, 'short')) === null, 'it is forgotten');
    expect(await read(other, 'nothing')).toBeNull();
    one.stop();
    other.stop();
  });

  it('misses immediately while the server is unreachable, and recovers afterwards', async () => {
    const answers = open();
    await storeUntilRead(answers, answers, 'a', '1');
    await server.kill();
    await eventually(async () => states.at(-1) === false, 'it is known to be away');
    expect(await read(answers, 'a')).toBeNull();
    answers.set('a', Buffer.from('2'), 60_000);
    await server.start();
    await storeUntilRead(answers, answers, 'a', '3');
    answers.stop();
  });

  it('limits the bytes queued for a stalled server', async () => {
    const answers = open(100);
    await storeUntilRead(answers, answers, 'a', '1');
    server.pause();
    for (let i = 0; i < 20; i++) answers.set(`b${i}`, Buffer.alloc(100, 'x'), 60_000);
    expect(await read(answers, 'a')).toBeNull();
    server.goOn();
    await storeUntilRead(answers, answers, 'c', '1');
    expect(await read(answers, 'b19')).toBeNull();
    answers.stop();
  });
});
