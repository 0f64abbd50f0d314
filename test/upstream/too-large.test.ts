import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';

let scene: Scene;
afterEach(() => scene.close());

/** Announces a huge response except to polls. */
const boasting: Behaviour = (request, reply, socket) => {
  if (request.method !== 'getBalance') return healthy()(request, reply, socket);
  reply.writeHead(200, { 'content-length': '999999999' }).write('{');
};

const results = (): Promise<string> =>
  request(scene.pool, call('getBalance')).then(
    ({ body }) => body.toString(),
    (failure: unknown) => (failure instanceof Failure ? failure.code : String(failure)),
  );

describe('response above the size limit', () => {
  it('is retried elsewhere, and counts against its node if another has a shorter one', async () => {
    scene = await stage([boasting, boasting, healthy('7')]);
    scene.pool.start();
    while (scene.pool.status()[0]!.state !== 'failing') expect(await results()).toBe('7');
  });

  it('fails if no node has a shorter one, after one attempt each', async () => {
    scene = await stage([boasting, boasting]);
    expect(await results()).toBe('ANSWER_TOO_LARGE');
    expect(scene.mocks.map((mock) => mock.count('getBalance'))).toEqual([1, 1]);
  });
});
